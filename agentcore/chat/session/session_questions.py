"""Questions of tools to the user of a session: shown one after another, each answered once."""

import asyncio
import secrets
import time

from agentcore.chat.session.session_view import QuestionView
from agentcore.core.calls.chat_protocols import Inquiry, Reply
from agentcore.core.calls.question_form import read_answers, shown_form
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One waiting question.

    Args:
        view: The question as shown to the user.
        inquiry: The question as asked by the tool.
        answer: Resolved with the answer.
    """

    view: QuestionView
    inquiry: Inquiry
    answer: asyncio.Future[Reply]


class Questions:
    """The questions of one session, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, Question] = {}
        self._waited_s = 0.0
        self._since_s = 0.0

    @property
    def waited_s(self) -> float:
        """How long at least one question has waited, in seconds, in total."""
        return self._waited_s + (time.monotonic() - self._since_s if self._waiting else 0.0)

    @property
    def first(self) -> QuestionView | None:
        """The question to show, which is the oldest."""
        return next(iter(self.all), None)

    @property
    def all(self) -> list[QuestionView]:
        """All that wait, the oldest first."""
        return [question.view for question in self._waiting.values()]

    def add(self, inquiry: Inquiry, module: str, host: str, tool_id: str | None, timeout_s: float | None) -> Question:
        """Add a module's question; `host` is the host that runs the module, or that made it ask."""
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
            requested_at=int(time.time() * 1000),
            expires_at=None if timeout_s is None else int((time.time() + timeout_s) * 1000),
        )
        question = Question(view, inquiry, asyncio.get_running_loop().create_future())
        if not self._waiting:
            self._since_s = time.monotonic()
        self._waiting[view.question_id] = question
        return question

    def answer(self, question_id: str, reply: Reply) -> bool:
        """Answer a question; False if it does not wait (any more).

        Raises:
            ToolError: `invalid_answer`: the answer does not fit the question, which continues to wait.
        """
        question = self._waiting.get(question_id)
        if question is None or question.answer.done():
            return False
        _check_reply(question.inquiry, reply)
        self.drop(question)
        question.answer.set_result(reply)
        return True

    def drop(self, question: Question) -> None:
        """Remove a question whose answer is no longer awaited."""
        self._waited_s = self.waited_s
        self._since_s = time.monotonic()
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
