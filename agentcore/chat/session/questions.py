"""Questions of tools to the person of a session: asked one after another, each answered once."""

import asyncio
import secrets
import time
from dataclasses import dataclass

from agentcore.chat.session.view import QuestionView
from agentcore.core.calls import Inquiry, Reply, read_answers, shown_form
from agentcore.errors import ToolError


@dataclass(frozen=True, slots=True)
class Question:
    """One question that waits.

    Args:
        view: What the person sees.
        inquiry: What is asked.
        answer: Settled by the answer.
    """

    view: QuestionView
    inquiry: Inquiry
    answer: asyncio.Future[Reply]


class Questions:
    """The questions of one session, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, Question] = {}

    @property
    def first(self) -> QuestionView | None:
        """The question to show."""
        return next((question.view for question in self._waiting.values()), None)

    def add(self, inquiry: Inquiry, module: str, host: str, tool_id: str | None, timeout_s: float) -> Question:
        """Ask something for a module; `host`: the one on another machine that it is on, or that had it ask."""
        view = QuestionView(
            question_id=f"q_{secrets.token_hex(8)}",
            kind=inquiry.kind,
            text=inquiry.text,
            asked_by=module,
            host=host,
            options=None if inquiry.options is None else list(inquiry.options),
            form=shown_form(inquiry.fields) if inquiry.fields else None,
            url=inquiry.url,
            tool_id=tool_id,
            expires_at=int((time.time() + timeout_s) * 1000),
        )
        question = Question(view, inquiry, asyncio.get_running_loop().create_future())
        self._waiting[view.question_id] = question
        return question

    def answer(self, question_id: str, reply: Reply) -> bool:
        """Answer a question; False: it does not wait (any more).

        Raises:
            ToolError: `invalid_answer`: it is none to this question, which goes on waiting.
        """
        question = self._waiting.get(question_id)
        if question is None or question.answer.done():
            return False
        _check_reply(question.inquiry, reply)
        del self._waiting[question_id]
        question.answer.set_result(reply)
        return True

    def drop(self, question: Question) -> None:
        """Nobody waits for the answer any more."""
        self._waiting.pop(question.view.question_id, None)


def _check_reply(inquiry: Inquiry, reply: Reply) -> None:
    if reply.is_declined:
        return
    if inquiry.kind == "text" and not reply.text.strip():
        raise ToolError("invalid_answer", "this question is answered by words: give `text`")
    if inquiry.kind == "form":
        if reply.content is None:
            raise ToolError("invalid_answer", "this question is a form: give `content`, by the names of its fields")
        try:
            read_answers(inquiry.fields, reply.content)
        except ValueError as exc:
            raise ToolError("invalid_answer", str(exc)) from exc
