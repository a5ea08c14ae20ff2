"""What calls may use of the chat that they belong to: the host knows its shape, and a chat fills it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentcore.api import ChatSession
from agentcore.errors import ToolError
from agentcore.host.calls.call import Call
from agentcore.host.calls.inquiry import Inquiry, Reply


class Conversation(Protocol):
    """The chat of a host, as calls see it through their context."""

    def session_of(self, call: Call) -> ChatSession | None:
        """The chat session of a call; None: it comes from none."""
        ...

    async def hosts_of(self, session_id: str) -> Sequence[str]:
        """The hosts that calls of a session are meant for, the most wanted first; none: nobody has chosen any."""
        ...

    async def ask(self, call: Call, inquiry: Inquiry) -> Reply:
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
