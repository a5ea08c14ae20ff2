"""What calls may use of the chat that they belong to, and put to its person: a chat fills what the host asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agentcore.api import ChatSession
from agentcore.core.calls.call import Call
from agentcore.core.calls.forms import FormField
from agentcore.errors import ToolError

InquiryKind = Literal["text", "form", "address", "sample"]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One question.

    Args:
        text: What is asked; of a `sample` what the model would be told.
        timeout_s: How long to wait.
        kind: Whether words are the answer, a form that is filled in, that an address was opened, or the leave to have
            the session's model write.
        options: Words to choose from; the person may give others.
        fields: The form's.
        url: The address.
    """

    text: str
    timeout_s: float
    kind: InquiryKind = "text"
    options: Sequence[str] | None = None
    fields: Sequence[FormField] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer.

    Args:
        text: Its words.
        content: What a form was filled in with; not checked yet.
        is_declined: The person wants to give none. Of a `sample` and an `address` anything else is a yes.
    """

    text: str = ""
    content: Mapping[str, Any] | None = None
    is_declined: bool = False


def declined_error(question: str) -> ToolError:
    """The person was asked, and does not want to."""
    return ToolError("declined", f"the person declined to answer: {question!r}; do not ask again for the same thing")


class Conversation(Protocol):
    """The chat of a host, as calls see it through their context."""

    def session_of(self, call: Call) -> ChatSession | None:
        """The chat session of a call; None: it comes from none."""
        ...

    async def hosts_of(self, session_id: str) -> Sequence[str]:
        """The hosts that calls of a session are meant for, the most wanted first; none: nobody has chosen any."""
        ...

    async def ask_user(self, call: Call, inquiry: Inquiry) -> Reply:
        """Put something to the person of the call's chat.

        Raises:
            ToolError: `no_person`: the call has no chat, or nobody answered in time.
        """
        ...

    async def run_agent(
        self,
        call: Call,
        prompt: str,
        tools: Sequence[str] | None,
        model: str | None,
        budget: Mapping[str, int] | None,
    ) -> str:
        """See `agentcore.api.ToolContext.run_agent`."""
        ...


class ConversationSlot:
    """Where calls find the chat of their host.

    A host can do without a chat, and one that has a chat starts before it and ends after it. So the host makes this
    slot first and gives it to its calls; the chat enters `chat` when it begins, and leaves it when it ends.
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


def no_session() -> ToolError:
    """What a call without a chat session gets."""
    return ToolError("no_session", "this call does not come from a chat session; make it from a chat")
