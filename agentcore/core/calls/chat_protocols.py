"""Protocols that a chat implements, through which calls use the chat and ask its user."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from agentcore.api import ChatSession
from agentcore.core.calls.call import Call
from agentcore.core.calls.question_form import FormField
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

InquiryKind = Literal["text", "form", "address", "sample"]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question.

    Args:
        text: The question; of a `sample` the request to the model.
        timeout_s: How long to wait; None: as long as the session lasts.
        kind: The kind of answer: text, a filled-in form, confirmation that an address was opened, or permission to send
            a request to the session's model.
        options: Suggested answers; the user may give others.
        fields: The fields of the form.
        url: The address.
    """

    text: str
    timeout_s: float | None
    kind: InquiryKind = "text"
    options: Sequence[str] | None = None
    fields: Sequence[FormField] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The user's answer.

    Args:
        text: Its text.
        content: The filled-in form; not validated yet.
        is_declined: True if the user refuses to answer. Of a `sample` and an `address` anything else is a yes.
    """

    text: str = ""
    content: Mapping[str, Any] | None = None
    is_declined: bool = False


def declined_error(question: str) -> ToolError:
    """Return the error for a question that the user declined."""
    return ToolError("declined", f"the person declined to answer: {question!r}; do not ask again for the same thing")


class Conversation(Protocol):
    """The chat of a core, as calls see it through their context."""

    def session_of(self, call: Call) -> ChatSession | None:
        """The chat session of a call; None: it comes from none."""
        ...

    async def hosts_of(self, session_id: str) -> Sequence[str]:
        """Return the hosts for calls of a session, the preferred one first; none: no host was chosen."""
        ...

    async def ask_user(self, call: Call, inquiry: Inquiry) -> Reply:
        """Ask the user of the call's chat.

        Raises:
            ToolError: `no_person`: the call has no chat, or the user did not answer in time.
        """
        ...

    async def run_agent(
        self,
        call: Call,
        prompt: str,
        tools: Sequence[str] | None,
        model: str | None,
        budget: Mapping[str, int] | None,
    ) -> str: ...


class ConversationSlot:
    """Holds the chat of a core for its calls.

    A core works without a chat, and one that has a chat starts before it and ends after it. So the core creates this
    slot first and passes it to its calls; the chat sets `chat` when it starts, and resets it when it ends.
    """

    def __init__(self) -> None:
        self.chat: Conversation | None = None

    def get(self) -> Conversation:
        """The chat.

        Raises:
            ToolError: `no_session`.
        """
        if self.chat is None:
            raise no_session()
        return self.chat


def no_person(inquiry: Inquiry) -> ToolError:
    """Return the error of a question in a call without a chat."""
    return ToolError("no_person", f"this call has no chat, so nobody can be asked: {inquiry.text!r}")


def no_session() -> ToolError:
    """Return the error of a call without a chat session."""
    return ToolError("no_session", "this call does not come from a chat session; make it from a chat")
