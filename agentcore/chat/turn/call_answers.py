"""Answers to the calls of a chat: decisions of users, and results of client tools. The first answer counts."""

import json
from functools import partial

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.live_state import LiveSessions
from agentcore.chat.settings import AgentConfig
from agentcore.chat.turn.tool_output import client_output
from agentcore.chat.untrusted_text import use_mark
from agentcore.core.approvals.network_approval import check_approver
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.calls.call import ModelReader
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallRow, ChatCallState, ChatSessionRow


class CallAnswers:
    """Records answers that arrive through a session.

    Decisions that arrive through the approval queue (approval view, terminal) are reported by its events instead.

    Args:
        core: Stores calls and sessions.
        live: In-memory state of the sessions in use.
    """

    def __init__(self, core: Core, live: LiveSessions) -> None:
        self._core = core
        self._approvals = core.approvals
        self._chats = core.store.chats
        self._live = live
        self._recording: set[str] = set()

    def is_recording_answer(self, call_id: str) -> bool:
        """True while a decision on this call is being recorded here, which causes the queue's event about it."""
        return call_id in self._recording

    async def find_waiting_call(self, session_id: str, tool_id: str) -> ChatCallRow:
        """Return a call of a session that waits for an answer.

        Raises:
            ToolError: `tool_call_not_found`, `tool_call_answered`.
        """
        call = await self._chats.find_call(session_id, tool_id)
        if call is None:
            raise ToolError("tool_call_not_found", f"no call {tool_id!r} was made in this session", toolId=tool_id)
        if call.state != "waiting":
            raise _already_answered_error(tool_id)
        return call

    async def decide_blocking_call(
        self, session: ChatSessionRow, tool_id: str, by: Principal, *, is_approved: bool
    ) -> bool:
        """Decide a call whose caller blocks until it is decided; False if there is none with this id.

        Such calls are made by sub-agents, by tools, and by the user.

        Raises:
            ToolError: As `decide_call`.
        """
        request = await self._find_blocking_request(session.session_id, tool_id)
        if request is None:
            return False
        if is_approved:
            self._check_approver(by, session, request)
        if not await self._decide_approval(request.call_id, Verdict(is_approved, by=by.name)):
            raise _already_answered_error(tool_id)
        return True

    async def decide_call(
        self, session: ChatSessionRow, tool_id: str, by: Principal, stream: Stream, *, is_approved: bool
    ) -> None:
        """Record the user's decision on a waiting call. It runs only when the other calls of its turn are decided.

        Raises:
            ToolError: `tool_call_not_found`, `tool_call_answered`, why `by` may not approve it, or that the decision
                cannot be written to the disk.
        """
        call = await self.find_waiting_call(session.session_id, tool_id)
        if is_approved and call.kind == "client":
            await self._store_consent(call, by, stream)
            return
        if is_approved:
            pending = self._approvals.find_pending(call.call_id)
            self._check_approver(by, session, call if pending is None else pending.request)
        if not await self._record_verdict(call, Verdict(is_approved, by=by.name)):
            raise _already_answered_error(tool_id)

    async def store_client_result(self, call: ChatCallRow, text: str, agent: AgentConfig, stream: Stream) -> None:
        """Store the result that a client sends for a call of one of its tools.

        Raises:
            ToolError: `tool_call_answered`.
        """
        await self._core.policy.record_untrusted_source(call.session_id, call.tool_name)
        session = await self._chats.find_session(call.session_id)
        use_mark("" if session is None else session.mark)
        save = partial(self._core.store.artifacts.save, session_id=call.session_id, call_id=call.call_id)
        registry = self._core.registry
        tools = registry.tools_at(stream.live.current_host(registry))
        reading = ArtifactReading(tools, ModelReader(agent.result_chars, agent.offers_tool))
        output = await client_output(text, call.tool_name, save, reading)
        envelope = {"ok": True, "content": [{"type": "text", "text": text}]}
        is_stored = await self._chats.move_call(
            call.session_id,
            call.tool_id,
            "waiting",
            "done",
            result=json.dumps(output, ensure_ascii=False),
            envelope=json.dumps(envelope, ensure_ascii=False),
        )
        if not is_stored:
            raise _already_answered_error(call.tool_id)
        stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    async def _find_blocking_request(self, session_id: str, tool_id: str) -> ApprovalRequest | None:
        live = self._live.find(session_id)
        if live is None:
            return None
        call_id = live.inner.get(tool_id)
        if call_id is None and await self._chats.find_call(session_id, tool_id) is None:
            call_id = live.find_call_id(tool_id)  # a call that the user made; the session stores it as a notice
        pending = None if call_id is None else self._approvals.find_pending(call_id)
        return None if pending is None else pending.request

    def _check_approver(self, by: Principal, session: ChatSessionRow, call: ApprovalRequest | ChatCallRow) -> None:
        definition: ToolDefinition | None
        preview: CallPreview | None
        if isinstance(call, ApprovalRequest):
            definition = call.definition
            preview = call.preview
        else:
            tool = self._core.registry.tools.get(call.tool_name)
            definition = None if tool is None else tool.definition
            preview = None
        api_token_approves = self._core.policy.config.api_token
        check_approver(by, definition, preview, api_token_approves=api_token_approves, session_owner=session.owner)

    async def _store_consent(self, call: ChatCallRow, by: Principal, stream: Stream) -> None:
        """Store that the user lets the client run a call; the call ends with the client's result."""
        consent: dict[str, str | int] = {"answered_by": by.name, "needs_approval": 0}
        if not await self._chats.move_call(call.session_id, call.tool_id, "waiting", "waiting", **consent):
            raise _already_answered_error(call.tool_id)
        stream.publish_tool_state(call.tool_id, "waiting", needsApproval=False, answeredBy=by.name)

    async def _record_verdict(self, call: ChatCallRow, verdict: Verdict) -> bool:
        """Record a decision on a waiting call, which from then on is not listed as waiting; False if it was decided."""
        self._recording.add(call.call_id)
        try:
            # a call that the queue does not have (its tool changed over a restart) is reported to the model in its turn
            is_queued = self._approvals.find_pending(call.call_id) is not None
            if is_queued and not await self._decide_approval(call.call_id, verdict):
                return False
            after: ChatCallState = "approved" if verdict.approved else "rejected"
            return await self._chats.move_call(call.session_id, call.tool_id, "waiting", after, answered_by=verdict.by)
        finally:
            self._recording.discard(call.call_id)

    async def _decide_approval(self, call_id: str, verdict: Verdict) -> bool:
        try:
            await self._approvals.decide_call(call_id, verdict)
        except ToolError as exc:
            if exc.type != "approval_not_found":
                raise
            return False  # another decision was first
        return True


def _already_answered_error(tool_id: str) -> ToolError:
    return ToolError("tool_call_answered", f"call {tool_id!r} was answered already", toolId=tool_id)
