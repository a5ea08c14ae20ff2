"""Calls that the user makes inside a chat: run without a model, and stored in the session with their results."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from agentcore.api import Principal
from agentcore.chat.session import transcript
from agentcore.chat.session.event_stream import Stream
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from agentcore.errors import ToolError


class UserCall:
    """One call of the user in a session.

    Args:
        core: Runs it.
        stream: The session's events.
        tool: The tool.
        arguments: Its arguments.

    Attributes:
        tool_id: Its id in the session.
    """

    def __init__(self, core: Core, stream: Stream, tool: str, arguments: dict[str, Any]) -> None:
        self._core = core
        self._chats = core.store.chats
        self._stream = stream
        self._tool = tool
        self._arguments = arguments
        self.tool_id = f"tc_{secrets.token_hex(8)}"
        self._call = {
            "toolId": self.tool_id,
            "toolName": tool,
            "arguments": arguments,
            "kind": "server",
            "state": "running",
        }

    async def store_call(self) -> int:
        """Store the call in the session, and publish it; return the number of its message."""
        self._stream.live.commands.add(self.tool_id)
        notice = transcript.create_notice("", calls=[self._call])
        (number,) = await self._chats.append_messages(self._stream.session_id, [notice])
        self._stream.publish_message({"number": number, "role": "notice", "text": "", "calls": [self._call]})
        return number

    async def run_call(self, by: Principal, number: int) -> None:
        """Run the call, and store its result in the message with this number."""
        request = CallRequest(
            self._tool, self._arguments, by, session_id=self._stream.session_id, waits_for_approval=True
        )
        envelope: dict[str, Any] = {"ok": False, "error": ToolError("cancelled", "the call was cancelled").to_json()}
        try:
            envelope = json.loads((await self._core.run_call(request, self._handle_call_event)).encode_envelope())
        finally:
            await self._store_result(number, envelope)

    async def _store_result(self, number: int, envelope: dict[str, Any]) -> None:
        ended = {**self._call, "state": transcript.end_of(envelope), "result": envelope}
        if "callId" in envelope:
            ended["callId"] = envelope["callId"]
        notice = transcript.create_notice("", calls=[ended])
        try:
            await self._chats.replace_message(self._stream.session_id, number, notice)
        finally:
            self._stream.live.commands.discard(self.tool_id)
            self._stream.publish_tool_result(self._tool, self.tool_id, envelope, is_told=False)

    def _handle_call_event(self, event: str, data: Mapping[str, Any]) -> None:
        """Handle an event of the call; implements `agentcore.core.calls.call.Notify`."""
        if event in {"accepted", "approval"}:
            self._stream.live.tool_ids[data["callId"]] = self.tool_id
            state = "running" if event == "accepted" else "waiting"
            self._stream.publish_tool_state(self.tool_id, state, **data)
