"""The end of what a person stopped: the text that had come is kept, and every call that was open is settled."""

import json
from importlib import import_module
from typing import Any

from agentcore.chat.session.stream import Stream
from agentcore.chat.session.transcript import STOPPED
from agentcore.chat.texts import result_text
from agentcore.chat.turn.tool_output import error_output
from agentcore.core import Core
from agentcore.errors import ToolError
from agentcore.store.chat import ChatCallRow, NewMessage


class StoppedTurn:
    """What is left of a session's turn when its work has ended; whoever makes one holds the session.

    Args:
        host: Keeps the session, and the calls that wait.
        stream: Where their ends are told.
    """

    def __init__(self, core: Core, stream: Stream) -> None:
        self._core = core
        self._chats = core.store.chats
        self._stream = stream
        self._session_id = stream.session_id
        self._live = stream.live

    async def store_partial_text(self) -> None:
        """Keep what the model had said of its answer, as its message that was stopped."""
        async with self._live.storing:
            if said := self._live.text:
                # here alone: whoever has an answer has imported the model library for it
                messages: Any = import_module("pydantic_ai.messages")
                history = import_module("agentcore.chat.turn.history")
                answer = messages.ModelResponse(parts=[messages.TextPart(said)], metadata={STOPPED: True})
                await self._chats.append_messages(self._session_id, [NewMessage(history.dump(answer), "said", said)])
            self._live.clear_answer()

    async def settle_calls(self) -> bool:
        """Give each call that was open its end, and take from persons what waits for them; False: none was open."""
        has_any = False
        # again until there is none: a step that was cut off may have been on its way to the disk
        while calls := [call for call in await self._chats.load_open_calls(self._session_id) if call.state != "done"]:
            has_any = True
            for call in calls:
                await self.settle_call(call)
        for request in self._core.approvals.waiting:
            # of calls inside of calls, and of those that were about to be asked about
            if (request.session_id, request.principal.kind) == (self._session_id, "chat"):
                await self._withdraw_approval(request.call_id)
        self._live.inner.clear()
        return has_any

    async def settle_call(self, call: ChatCallRow) -> None:
        """End one call as cancelled, and withdraw its approval request."""
        call_id = self._host_id(call)
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
            # its own end was faster, and nobody has told it
            kept = await self._chats.find_call(call.session_id, call.tool_id)
            envelope = json.loads(kept.envelope) if kept is not None and kept.envelope else envelope
        self._stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    def _host_id(self, call: ChatCallRow) -> str:
        """The host's id of a call: of one that the policy let pass only the session's live side knows it."""
        names = self._live.tool_ids
        found = next((call_id for call_id, tool_id in names.items() if tool_id == call.tool_id), "")
        names.pop(found, None)
        return call.call_id or found

    async def _withdraw_approval(self, call_id: str) -> None:
        if (pending := self._core.approvals.find_pending(call_id)) is not None:
            await pending.withdraw()
