"""What a session tells: on the event bus for everybody, and to the client whose request it answers."""

from collections.abc import Mapping
from typing import Any

from agentcore.chat.session.live import LiveSession, Sink
from agentcore.chat.texts import Locale, localized_text
from agentcore.core.events import EventBus
from agentcore.errors import ToolError
from agentcore.store.chat import UsedTokens


class Stream:
    """The events of one stretch of a turn.

    Args:
        events: Where pages listen, and where a client resumes after the last id that it saw.
        session_id: Whose they are.
        locale: Language of the texts.
        live: Keeps the answer as it comes, for pages that open meanwhile.
        sink: The client that waits; None: nobody does.
        thread: Where a sub-agent belongs whose events these are; None: they are the session's own.

    Attributes:
        session_id: The session.
        said: The text of a sub-agent's answer as it comes; whoever keeps the answer clears it.
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
        self._events = events
        self.session_id = session_id
        self._thread = thread
        self.locale = locale
        self.live = live
        self.sink = sink
        self.usage = UsedTokens()
        self.said: list[str] = []

    @property
    def thread(self) -> Mapping[str, Any] | None:
        """Where the sub-agent belongs whose events these are; None: they are the session's own."""
        return self._thread

    def send_content(self, piece: str) -> None:
        """A piece of text."""
        if piece:
            if self._thread is None:
                self.live.add_text(piece)
            else:
                self.said.append(piece)
            self._publish_and_send("session.content", {"content": piece})

    def publish_thinking(self, piece: str) -> None:
        """A piece of what the model thinks; for pages."""
        if piece:
            if self._thread is None:
                self.live.add_thinking(piece)
            self.publish_to_pages("session.thinking", {"content": piece})

    def publish_tool_call(
        self, tool_name: str, arguments: str, tool_id: str, kind: str, *, waits: bool, **more: Any
    ) -> Mapping[str, Any]:
        """A call that the model wants; for pages. Gives what `send` tells the client of it, once it can be answered.

        Args:
            tool_name: Its tool.
            arguments: JSON text.
            tool_id: Its name in the session.
            kind: Where it runs.
            waits: Whether it needs an answer: a person's, or the client's result.
            **more: Of a client's call `needsApproval`, and `client` where it is known; of others `words`, if any.
        """
        call = {"tool_name": tool_name, "arguments": arguments, "toolId": tool_id, "kind": kind, "waits": waits, **more}
        self.publish_to_pages("session.toolCall", {"tool_call": call})
        return {"tool_call": call}

    def publish_tool_state(self, tool_id: str, state: str, **more: Any) -> None:
        """How far a call is; for pages."""
        self.publish_to_pages("session.toolState", {"toolId": tool_id, "state": state, **more})

    def publish_tool_result(
        self, tool_name: str, tool_id: str, envelope: Mapping[str, Any], *, is_told: bool = True
    ) -> None:
        """How a call ended; of one that the client was not told of, or ran itself, for pages."""
        payload = {"tool_result": {"toolId": tool_id, "tool_name": tool_name, **envelope}}
        self.publish_to_pages("session.toolResult", payload)
        if is_told:
            self.send_to_client(payload)

    def publish_message(self, item: Mapping[str, Any]) -> None:
        """A message that is no model's, as it is listed; for pages."""
        self.publish_to_pages("session.message", item)

    def publish_compaction(self, number: int, compaction: Mapping[str, Any]) -> None:
        """What the model is told was made shorter; for pages.

        Args:
            number: The message that says so.
            compaction: `CompactionView` as JSON values.
        """
        self.publish_to_pages("session.compacted", {"number": number, "compaction": compaction})

    def send_error(self, error: ToolError, *, is_of_turn: bool = True) -> None:
        """What went wrong; pages are not told of what a client did wrong while another one's turn goes on."""
        (self._publish_and_send if is_of_turn else self._send_only)("session.error", {"error": error.to_json()})

    def send_finished(self, waiting: list[str], *, is_of_turn: bool = True) -> None:
        """The last event: what was used, and which calls wait; of the turn, or of this client's request alone."""
        payload = {
            "message": localized_text(self.locale, "finished"),
            "usage": self.usage._asdict(),
            "waiting": waiting,
        }
        (self._publish_and_send if is_of_turn else self._send_only)("session.finished", payload)

    def send_to_client(self, payload: Mapping[str, Any]) -> None:
        """Something for the client alone: of a sub-agent, for the client whose turn it works in."""
        sink = self.sink if self._thread is None else self.live.client
        if sink is not None:
            sink(self._events.last_id, payload if self._thread is None else {**payload, "thread": self._thread})

    def publish_to_pages(self, event_type: str, payload: Mapping[str, Any]) -> None:
        """An event for pages alone: the wire of the chat does not know it."""
        told = payload if self._thread is None else {**payload, "thread": self._thread}
        self._events.publish(event_type, told, session_id=self.session_id)

    def create_inner_stream(self, parent_tool_id: str, depth: int | None = None) -> "Stream":
        """The events of a sub-agent, or of other calls, inside of a call of this session."""
        depth = (0 if self._thread is None else self._thread["depth"]) + 1 if depth is None else depth
        thread = {"parentToolId": parent_tool_id, "depth": depth}
        return Stream(self._events, self.session_id, self.locale, self.live, thread=thread)

    def _publish_and_send(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self.publish_to_pages(event_type, payload)
        if self._thread is None:
            self.send_to_client(payload)

    def _send_only(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self.send_to_client(payload)
