"""Cleans up after a turn that the user stopped: stores the partial text, and settles all open calls."""

import json
from importlib import import_module
from typing import Any

from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.transcript import STOPPED
from agentcore.chat.texts import result_text
from agentcore.chat.turn.tool_output import error_output
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallRow, NewMessage


class StoppedTurn:
    """Cleans up a session after its tasks were cancelled; the caller holds the turn lock.

    Args:
        core: Stores the session and its pending approvals.
        stream: Receives the results of the calls.
    """

    def __init__(self, core: Core, stream: Stream) -> None:
        self._core = core
        self._chats = core.store.chats
        self._stream = stream
        self._session_id = stream.session_id
        self._live = stream.live

    async def store_partial_text(self) -> None:
        """Store the partial answer as a stopped message."""
        async with self._live.storing:
            if said := self._live.text:
                # imported only here: if there is an answer, the model library is loaded already
                messages: Any = import_module("pydantic_ai.messages")
                history = import_module("agentcore.chat.turn.history")
                answer = messages.ModelResponse(parts=[messages.TextPart(said)], metadata={STOPPED: True})
                await self._chats.append_messages(
                    self._session_id, [NewMessage(history.dump_message(answer), "said", said)]
                )
            self._live.clear_answer()

    async def settle_calls(self) -> bool:
        """End all open calls, and withdraw their approval requests; False if no call was open."""
        has_any = False
        # repeat until none is left: a cancelled step may still have been writing to the disk
        while calls := [call for call in await self._chats.load_open_calls(self._session_id) if call.state != "done"]:
            has_any = True
            for call in calls:
                await self.settle_call(call)
        for request in self._core.approvals.waiting:
            # requests of nested calls, and of calls whose approval was just being requested
            if (request.session_id, request.principal.kind) == (self._session_id, "chat"):
                await self._withdraw_approval(request.call_id)
        self._live.inner.clear()
        return has_any

    async def settle_call(self, call: ChatCallRow) -> None:
        """End one call as cancelled, and withdraw its approval request."""
        call_id = self._remove_core_id(call)
        await self._withdraw_approval(call_id)
        said = result_text("stopped_running" if call.may_have_started else "stopped")
        error = ToolError("cancelled", said)
        envelope = {"ok": False, "callId": call_id, "error": error.to_json()}
        is_settled = await self._chats.move_call(
            call.session_id,
            call.tool_id,
            call.state,
            "done",
            call_id=call_id,
            result=json.dumps(error_output(error), ensure_ascii=False),
            envelope=json.dumps(envelope, ensure_ascii=False),
        )
        if not is_settled:
            # it ended by itself first, and that was not published
            kept = await self._chats.find_call(call.session_id, call.tool_id)
            envelope = json.loads(kept.envelope) if kept is not None and kept.envelope else envelope
        self._stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    def _remove_core_id(self, call: ChatCallRow) -> str:
        """Return the core's id of a call; if it needed no approval, only the live session knows it."""
        found = self._live.find_call_id(call.tool_id) or ""
        self._live.tool_ids.pop(found, None)
        return call.call_id or found

    async def _withdraw_approval(self, call_id: str) -> None:
        if (pending := self._core.approvals.find_pending(call_id)) is not None:
            await pending.withdraw()
