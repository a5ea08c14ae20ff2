"""What calls may use of the chat that they belong to: the host knows its shape, and a chat fills it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentcore.api.context import ChatSession
from agentcore.errors import ToolError
from agentcore.host.calls.call import Call


class Conversation(Protocol):
    """The chat of a host, as calls see it through their context."""

    def session_of(self, call: Call) -> ChatSession | None:
        """The chat session of a call; None: it comes from none."""
        ...

    async def ask(self, call: Call, question: str, options: Sequence[str] | None, timeout_s: float) -> str:
        """Put a question to the person of the call's session.

        Raises:
            ToolError: `no_person`.
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
        """Let a sub-agent work, and give its report.

        Raises:
            ToolError: `no_session`, or what ended its work.
        """
        ...


@dataclass(slots=True)
class ConversationSlot:
    """Where the chat of a host is found, once there is one."""

    chat: Conversation | None = None

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
