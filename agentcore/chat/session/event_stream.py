"""Publishes the events of a session: on the event bus, and to the client whose request it answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentcore.chat.session.live_state import LiveSession, Sink
from agentcore.chat.session.session_view import ModelWaitView
from agentcore.chat.texts import Locale, localized_text
from agentcore.core.events import EventBus
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import UsedTokens

if TYPE_CHECKING:
    from agentcore.chat.model.prompt_progress import PromptProgress
    from agentcore.chat.model.retries import ProviderWait


class Stream:
    """The events of one run of a turn.

    Args:
        events: The bus on which pages listen, and on which a client resumes after the last id that it saw.
        session_id: The session of the events.
        locale: Language of the texts.
        live: Stores the partial answer, for pages that open meanwhile.
        sink: The client that waits; None: there is none.
        thread: The call and depth of the sub-agent whose events these are; None: they are the session's own.

    Attributes:
        session_id: The session.
        said: The partial answer of a sub-agent; cleared when the answer is stored.
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
        """The call and depth of the sub-agent whose events these are; None: they are the session's own."""
        return self._thread

    def send_content(self, piece: str) -> None:
        """Publish and send a chunk of the answer."""
        if piece:
            if self._thread is None:
                self.live.add_text(piece)
            else:
                self.said.append(piece)
            self._publish_and_send("session.content", {"content": piece})

    def publish_thinking(self, piece: str) -> None:
        """Publish a chunk of the model's thinking to pages."""
        if piece:
            if self._thread is None:
                self.live.add_thinking(piece)
            self.publish_to_pages("session.thinking", {"content": piece})

    def publish_model_wait(self, wait: "ProviderWait | PromptProgress | None") -> None:
        """Publish to pages that the provider cannot answer before a time, or how far it has read a long request.

        None: the request is sent again, or was read.
        """
        told = None if wait is None else _to_wait_view(wait)
        if self._thread is None:
            self.live.model_wait = told
        self.publish_to_pages("session.modelWait", {"wait": None if told is None else told.to_json()})

    def publish_tool_call(
        self, tool_name: str, arguments: str, tool_id: str, kind: str, *, waits: bool, **more: Any
    ) -> Mapping[str, Any]:
        """Publish a model's call to pages; return the payload for `send_to_client`, to send once it can be answered.

        Args:
            tool_name: Its tool.
            arguments: JSON text.
            tool_id: Its id in the session.
            kind: Where it runs.
            waits: True if it needs an answer: the user's decision, or the client's result.
            **more: For a client's call `needsApproval`, and `client` if it is known; for others `words`, if any.
        """
        call = {"tool_name": tool_name, "arguments": arguments, "toolId": tool_id, "kind": kind, "waits": waits, **more}
        self.publish_to_pages("session.toolCall", {"tool_call": call})
        return {"tool_call": call}

    def publish_tool_state(self, tool_id: str, state: str, **more: Any) -> None:
        """Publish the state of a call to pages."""
        self.publish_to_pages("session.toolState", {"toolId": tool_id, "state": state, **more})

    def publish_tool_result(
        self, tool_name: str, tool_id: str, envelope: Mapping[str, Any], *, is_told: bool = True
    ) -> None:
        """Publish the result of a call; only to pages if `is_told` is False: the client ran it, or does not know it."""
        payload = {"tool_result": {"toolId": tool_id, "tool_name": tool_name, **envelope}}
        self.publish_to_pages("session.toolResult", payload)
        if is_told:
            self.send_to_client(payload)

    def publish_message(self, item: Mapping[str, Any]) -> None:
        """Publish a message that is not a model's to pages, in its listed form."""
        self.publish_to_pages("session.message", item)

    def publish_compaction(self, number: int, compaction: Mapping[str, Any]) -> None:
        """Publish to pages that the model's history was shortened.

        Args:
            number: The notice about it.
            compaction: `CompactionView` as JSON values.
        """
        self.publish_to_pages("session.compacted", {"number": number, "compaction": compaction})

    def send_error(self, error: ToolError, *, is_of_turn: bool = True) -> None:
        """Send an error; one of a client's request while another turn runs is not published to pages."""
        (self._publish_and_send if is_of_turn else self._send_only)("session.error", {"error": error.to_json()})

    def send_finished(self, waiting: list[str], *, is_of_turn: bool = True) -> None:
        """Send the last event of the turn, or only of this client's request: tokens used, and waiting calls."""
        payload = {
            "message": localized_text(self.locale, "finished"),
            "usage": self.usage._asdict(),
            "waiting": waiting,
        }
        (self._publish_and_send if is_of_turn else self._send_only)("session.finished", payload)

    def send_to_client(self, payload: Mapping[str, Any]) -> None:
        """Send a payload only to the client; for a sub-agent, to the client of its turn."""
        sink = self.sink if self._thread is None else self.live.client
        if sink is not None:
            sink(self._events.last_id, payload if self._thread is None else {**payload, "thread": self._thread})

    def publish_to_pages(self, event_type: str, payload: Mapping[str, Any]) -> None:
        """Publish an event only to pages: clients of the chat do not know it."""
        told = payload if self._thread is None else {**payload, "thread": self._thread}
        self._events.publish(event_type, told, session_id=self.session_id)

    def create_inner_stream(self, parent_tool_id: str, depth: int | None = None) -> "Stream":
        """Create the stream of a sub-agent, or of other nested calls, of a call of this session."""
        depth = (0 if self._thread is None else self._thread["depth"]) + 1 if depth is None else depth
        thread = {"parentToolId": parent_tool_id, "depth": depth}
        return Stream(self._events, self.session_id, self.locale, self.live, thread=thread)

    def _publish_and_send(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self.publish_to_pages(event_type, payload)
        if self._thread is None:
            self.send_to_client(payload)

    def _send_only(self, event_type: str, payload: Mapping[str, Any]) -> None:
        self.send_to_client(payload)


def _to_wait_view(wait: "ProviderWait | PromptProgress") -> ModelWaitView:
    if wait.reason == "reading":
        return ModelWaitView(reason=wait.reason, read_tokens=wait.read_tokens, prompt_tokens=wait.prompt_tokens)
    return ModelWaitView(until=wait.until_ms, reason=wait.reason)
