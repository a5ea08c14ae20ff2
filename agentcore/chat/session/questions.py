"""Questions of tools to the person of a session: asked one after another, each answered once."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from agentcore.chat.session.view import QuestionView


@dataclass(frozen=True, slots=True)
class Question:
    """One question that waits.

    Args:
        view: What the person sees.
        answer: Settled by the answer.
    """

    view: QuestionView
    answer: asyncio.Future[str]


class Questions:
    """The questions of one session, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, Question] = {}

    @property
    def first(self) -> QuestionView | None:
        """The question to show."""
        return next((question.view for question in self._waiting.values()), None)

    def add(self, text: str, options: Sequence[str] | None, tool_id: str | None, timeout_s: float) -> Question:
        """Ask something."""
        view = QuestionView(
            question_id=f"q_{secrets.token_hex(8)}",
            text=text,
            options=None if options is None else list(options),
            tool_id=tool_id,
            expires_at=int((time.time() + timeout_s) * 1000),
        )
        question = Question(view, asyncio.get_running_loop().create_future())
        self._waiting[view.question_id] = question
        return question

    def answer(self, question_id: str, text: str) -> bool:
        """Answer a question; False: it does not wait (any more)."""
        question = self._waiting.pop(question_id, None)
        if question is None or question.answer.done():
            return False
        question.answer.set_result(text)
        return True

    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        self._waiting.pop(question.view.question_id, None)
