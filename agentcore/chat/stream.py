"""What a session tells: on the event bus for everybody, and to the client whose request it answers."""

from collections.abc import Callable, Mapping
from typing import Any

from agentcore.api.errors import ToolError
from agentcore.chat.texts import Locale, text
from agentcore.host.events import EventBus

Sink = Callable[[str, Mapping[str, Any]], None]
"""Takes an event's id on the bus, and its payload on the wire of the chat. Never waits, never fails."""


class Stream:
    """The events of one stretch of a turn.

    Args:
        events: Where pages listen, and where a client resumes after the last id that it saw.
        session_id: The session.
        locale: Language of the texts.
        sink: The client that waits; None: nobody does.
    """

    def __init__(self, events: EventBus, session_id: str, locale: Locale, sink: Sink | None = None) -> None:
        self._events, self._session_id, self._sink = events, session_id, sink
        self.locale = locale
        self.usage = {"input_tokens": 0, "output_tokens": 0, "requests": 0}

    def content(self, piece: str) -> None:
        """A piece of text."""
        if piece:
            self._tell("session.content", {"content": piece})

    def tool_call(self, tool_name: str, arguments: str, tool_id: str, kind: str) -> None:
        """A call that the model wants; `arguments` is JSON text."""
        call = {"tool_name": tool_name, "arguments": arguments, "toolId": tool_id, "kind": kind}
        self._tell("session.toolCall", {"tool_call": call})

    def tool_result(self, tool_name: str, tool_id: str, envelope: Mapping[str, Any]) -> None:
        """How a server tool's call ended."""
        self._tell("session.toolResult", {"tool_result": {"toolId": tool_id, "tool_name": tool_name, **envelope}})

    def error(self, error: ToolError) -> None:
        """What went wrong."""
        self._tell("session.error", {"error": error.to_json()})

    def finished(self, waiting: list[str]) -> None:
        """The last event: what was used, and which calls wait."""
        payload = {"message": text(self.locale, "finished"), "usage": dict(self.usage), "waiting": waiting}
        self._tell("session.finished", payload)

    def _tell(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self._events.publish(event_type, payload, session_id=self._session_id)
        if self._sink is not None:
            self._sink(self._events.last_id, payload)
