"""What a session tells: on the event bus for everybody, and to the client whose request it answers."""

from collections.abc import Callable, Mapping
from typing import Any

from agentcore.api.errors import ToolError
from agentcore.chat.live import LiveSession
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
        live: Keeps the answer as it comes, for pages that open meanwhile.
        sink: The client that waits; None: nobody does.
        thread: Where a sub-agent belongs whose events these are; None: they are the session's own.
    """

    def __init__(
        self,
        events: EventBus,
        session_id: str,
        locale: Locale,
        live: LiveSession,
        *,
        sink: Sink | None = None,
        thread: Mapping[str, Any] | None = None,
    ) -> None:
        self._events, self._session_id, self._sink, self._thread = events, session_id, sink, thread
        self.locale, self.live = locale, live
        self.usage = {"input_tokens": 0, "output_tokens": 0, "requests": 0}

    def content(self, piece: str) -> None:
        """A piece of text."""
        if piece:
            if self._thread is None:
                self.live.add_text(piece)
            self._tell("session.content", {"content": piece})

    def thinking(self, piece: str) -> None:
        """A piece of what the model thinks; for pages."""
        if piece:
            if self._thread is None:
                self.live.add_thinking(piece)
            self.publish("session.thinking", {"content": piece})

    def tool_call(self, tool_name: str, arguments: str, tool_id: str, kind: str, *, is_tried: bool = True) -> None:
        """A call that the model wants; `arguments` is JSON text. One that is not even tried is for pages."""
        call = {"tool_name": tool_name, "arguments": arguments, "toolId": tool_id, "kind": kind}
        (self._tell if is_tried else self.publish)("session.toolCall", {"tool_call": call})

    def tool_state(self, tool_id: str, state: str, **more: Any) -> None:
        """How far a call is; for pages."""
        self.publish("session.toolState", {"toolId": tool_id, "state": state, **more})

    def tool_result(self, tool_name: str, tool_id: str, envelope: Mapping[str, Any], *, is_server: bool = True) -> None:
        """How a call ended; of a client's tool, or of a call that was not tried, for pages."""
        payload = {"tool_result": {"toolId": tool_id, "tool_name": tool_name, **envelope}}
        (self._tell if is_server else self.publish)("session.toolResult", payload)

    def message(self, item: Mapping[str, Any]) -> None:
        """A message that is no model's, as it is listed; for pages."""
        self.publish("session.message", item)

    def error(self, error: ToolError) -> None:
        """What went wrong."""
        self._tell("session.error", {"error": error.to_json()})

    def finished(self, waiting: list[str]) -> None:
        """The last event: what was used, and which calls wait."""
        payload = {"message": text(self.locale, "finished"), "usage": dict(self.usage), "waiting": waiting}
        self._tell("session.finished", payload)

    def publish(self, event_type: str, payload: Mapping[str, Any]) -> None:
        """An event for pages alone: the wire of the chat does not know it."""
        told = payload if self._thread is None else {**payload, "thread": self._thread}
        self._events.publish(event_type, told, session_id=self._session_id)

    def inside(self, parent_tool_id: str, depth: int) -> "Stream":
        """The events of a sub-agent that a call of this session runs."""
        thread = {"parentToolId": parent_tool_id, "depth": depth}
        return Stream(self._events, self._session_id, self.locale, self.live, thread=thread)

    def _tell(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self.publish(event_type, payload)
        if self._sink is not None:
            self._sink(self._events.last_id, payload)
