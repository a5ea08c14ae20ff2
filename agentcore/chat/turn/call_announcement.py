"""Announces one call of a server tool: to pages at once, to the client when it can act on it."""

from collections.abc import Mapping
from typing import Any

from agentcore.chat.session.event_stream import Stream
from agentcore.core.core import Core
from agentcore.encoding import to_json
from agentcore.store.chat.chat_rows import ChatCallRow


class CallAnnouncement:
    """Announces a call on its way through the core, and nested calls that wait for the user.

    Args:
        core: Runs the call.
        stream: Receives the announcements.
        call: The call.
        is_inner: True for a call of a sub-agent: the client is notified only if it waits.
        is_answered: True if the call was announced before, has waited, and now runs.
    """

    def __init__(
        self, core: Core, stream: Stream, call: ChatCallRow, *, is_inner: bool = False, is_answered: bool = False
    ) -> None:
        self._core = core
        self._stream = stream
        self._call = call
        self._is_inner = is_inner
        self._is_answered = is_answered
        self._call_id = call.call_id
        self._payload: Mapping[str, Any] | None = None
        self._inner: list[str] = []
        self.is_sent = False
        self.words = ""
        """The tool's summary of the call's effect; empty: there is none, or the tool was not asked yet."""

    def handle_call_event(self, event: str, said: Mapping[str, Any]) -> None:
        """Handle an event of the call; implements `agentcore.core.calls.call.Notify`."""
        live = self._stream.live
        tool_id = self._call.tool_id
        match event:
            case "accepted":
                self._call_id = said["callId"]
                live.tool_ids[said["callId"]] = tool_id
                if self._is_answered:
                    self._stream.publish_tool_state(tool_id, "running", callId=said["callId"])
            case "decided":
                self.words = said.get("words", "")
                self.announce_call(waits=said["asks"])
                self._stream.publish_tool_state(tool_id, "new" if said["asks"] else "running", callId=said["callId"])
            case "approval":
                self._announce_waiting(said)

    def announce_call(self, *, waits: bool) -> None:
        """Publish the call, if not done yet; if it waits, the client is notified by `send_to_client` only."""
        if self._payload is not None:
            return
        call = self._call
        words = {"words": self.words} if self.words else {}
        self._payload = self._stream.publish_tool_call(
            call.tool_name, call.arguments, call.tool_id, call.kind, waits=waits, **words
        )
        if not (waits or self._is_inner):
            self.send_to_client()

    def send_to_client(self) -> None:
        """Notify the client of the call, once: from now on it can be answered."""
        if self._payload is not None and not self.is_sent:
            self.is_sent = True
            self._stream.send_to_client(self._payload)

    def close(self) -> None:
        """Remove the ids of the call and its nested calls from the live session."""
        live = self._stream.live
        live.tool_ids.pop(self._call_id, None)
        for tool_id in self._inner:
            live.inner.pop(tool_id, None)

    def _announce_waiting(self, said: Mapping[str, Any]) -> None:
        """Announce that the call, or one that its tool makes, waits for the user while its caller blocks."""
        if said["callId"] == self._call_id:
            self._register_waiting(self._call.tool_id, said["callId"])
            self.send_to_client()
        elif (pending := self._core.approvals.find_pending(said["callId"])) is not None:
            request = pending.request
            self._register_waiting(request.call_id, request.call_id)
            requested = {"tool_name": request.definition.name, "arguments": to_json(request.arguments).decode()}
            words = {"words": request.preview.words} if request.preview is not None and request.preview.words else {}
            call = {**requested, "toolId": request.call_id, "kind": "server", "waits": True, **words}
            self._stream.create_inner_stream(self._call.tool_id).send_to_client({"tool_call": call})
        if self._is_inner:
            self._stream.publish_tool_state(self._call.tool_id, "waiting", **said)

    def _register_waiting(self, tool_id: str, call_id: str) -> None:
        self._inner.append(tool_id)
        self._stream.live.inner[tool_id] = call_id
