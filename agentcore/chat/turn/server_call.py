"""Calls of server tools: submitted to the core, shown to the user for approval, and run once."""

import json
from collections.abc import Mapping
from typing import Any

from agentcore.api import Effect, Principal, ToolDefinition
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.stored_result import ResultShrinker
from agentcore.chat.texts import result_text
from agentcore.chat.turn.call_announcement import CallAnnouncement
from agentcore.chat.turn.tool_output import ToolOutput, error_output, outcome_output
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.calls.call import CallOutcome, CallRequest, new_call_id
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatCallRow, ChatCallState

_LOOKS: frozenset[Effect] = frozenset(("read", "session"))
_READS: frozenset[Effect] = frozenset(("read", "egress"))


def only_reads(definition: ToolDefinition) -> bool:
    """Return True if calls of a tool change nothing, so that they may run at once with others of their kind.

    What has the effect `egress` may fetch a page or press a button of one: its annotations tell.
    """
    is_declared = "egress" not in definition.effects or definition.annotations.read_only is True
    return definition.effects <= _READS and is_declared


def may_act(tools: Mapping[str, RegisteredTool], name: str) -> bool:
    """Return False if calls of a tool change nothing outside the session; an unknown tool may act."""
    tool = tools.get(name)
    return tool is None or not (tool.definition.effects <= _LOOKS or only_reads(tool.definition))


def skipped_error(failed_tool: str) -> ToolError:
    """Create the error of a call that did not run because one before it in the same answer failed."""
    return ToolError("call_skipped", result_text("skipped", tool=failed_tool))


class ServerCalls:
    """Runs the calls of one session through the core; each state is committed before the next step.

    Args:
        core: Runs the calls.
        stream: Receives their results.
    """

    def __init__(self, core: Core, stream: Stream) -> None:
        self._core = core
        self._chats = core.store.chats
        self._stream = stream
        self._kept = ResultShrinker(core.store.artifacts)

    async def submit_call(self, call: ChatCallRow) -> None:
        """Submit a new call to the core: it runs, fails, or waits for approval."""
        # Commit first: the policy may let it run at once. Store its id, so that a restart finds the pending approval.
        call = call._replace(call_id=new_call_id())
        if not await self._chats.move_call(call.session_id, call.tool_id, "new", "running", call_id=call.call_id):
            return
        announcement = CallAnnouncement(self._core, self._stream, call)
        outcome = await self._core.run_call(
            self._build_request(call, planned_id=call.call_id), announcement.handle_call_event
        )
        if outcome.error is None or outcome.error.type != "approval_required":
            announcement.announce_call(waits=False)
            announcement.send_to_client()
            await self._finish_call(call, outcome, announcement)
            return
        self._stream.live.tool_ids[outcome.call_id] = call.tool_id
        await self._chats.move_call(call.session_id, call.tool_id, "running", "waiting", words=announcement.words)
        announcement.send_to_client()
        self._stream.publish_tool_state(call.tool_id, "waiting", callId=outcome.call_id, expiresAt=None)
        # the user may have decided in the terminal before the state was stored
        verdict = self._find_verdict(outcome.call_id)
        if verdict is not None:
            after: ChatCallState = "approved" if verdict.approved else "rejected"
            await self._chats.move_call(call.session_id, call.tool_id, "waiting", after, answered_by=verdict.by)

    async def needs_approval(self, call: ChatCallRow) -> bool:
        """Return True if the user would be asked about a new call. Nothing runs, and nothing is stored.

        A call that cannot be looked at yet is not asked about: it may need what the calls before it do.
        """
        try:
            facts = await self._core.call_review.inspect_call(self._build_request(call))
        except ToolError:
            return False
        return self._core.policy.decide(facts).kind == "ask"

    async def run_call(self, call: ChatCallRow) -> None:
        """Run an approved call once: a call found `running` after a restart is not run again."""
        if not await self._move_state(call, "approved", "running"):
            return
        announcement = CallAnnouncement(self._core, self._stream, call, is_answered=True)
        if self._find_verdict(call.call_id) is None:
            message = "the approval has expired before the call could begin; call it again"
            await self._finish_call(
                call, CallOutcome(call.call_id, error=ToolError("approval_expired", message)), announcement
            )
            return
        # calls that the tool makes wait for approval as well
        request = self._build_request(call, call.call_id, waits=True)
        await self._finish_call(call, await self._core.run_call(request, announcement.handle_call_event), announcement)

    async def resume_call(self, call: ChatCallRow) -> None:
        """Resume a call that was running when the last process or turn ended.

        An approval is consumed when its call starts, so a call that still has one has not started: it waits or runs.
        A call that its module's host continued without the server ends with that outcome.
        """
        going_on = await self._core.calls.carried_on.pop_matching_call(self._build_request(call, call.call_id or None))
        if going_on is not None:
            announcement = CallAnnouncement(self._core, self._stream, call, is_answered=True)
            await self._finish_call(call, await going_on.wait_for_outcome(), announcement)
            return
        pending = self._core.approvals.find_pending(call.call_id)
        if pending is None and self._may_start_again(call) and await self._move_state(call, "running", "new"):
            await self.submit_call(call._replace(state="new"))
        elif pending is None:
            await self.interrupt_call(call)
        elif pending.verdict is None:
            await self._mark_waiting(call, pending.request)
        elif not pending.verdict.approved:
            await self.reject_call(call)
        elif await self._move_state(call, "running", "approved"):
            await self.run_call(call)

    def _may_start_again(self, call: ChatCallRow) -> bool:
        """True if a call touches nothing but its session, and may be repeated, such as a question to the user."""
        registry = self._core.registry
        tool = registry.tools_at(self._stream.live.current_host(registry)).get(call.tool_name)
        if tool is None:
            return False
        definition = tool.definition
        return definition.effects == frozenset(("session",)) and definition.annotations.idempotent is True

    async def _mark_waiting(self, call: ChatCallRow, request: ApprovalRequest) -> None:
        """Mark a call as waiting whose approval request was queued before the session stored that state."""
        words = request.preview.words if request.preview is not None else ""
        self._stream.live.tool_ids[call.call_id] = call.tool_id
        await self._chats.move_call(call.session_id, call.tool_id, "running", "waiting", words=words or call.words)
        self._stream.publish_tool_state(call.tool_id, "waiting", callId=call.call_id, expiresAt=None)

    async def reject_call(self, call: ChatCallRow) -> None:
        """Record the user's rejection in the core, and return the reason to the model as the call's error."""
        reason = ""
        verdict = self._find_verdict(call.call_id)
        if verdict is not None:
            reason = verdict.reason
            outcome = await self._core.run_call(self._build_request(call, call.call_id))
            if verdict.is_by_policy and outcome.error is not None:
                await self.fail_call(call, outcome.error)
                return
        if call.may_have_started:
            said = result_text("rejected_running")
        else:
            said = result_text("rejected_because", reason=reason) if reason else result_text("rejected")
        await self.fail_call(call, ToolError("approval_denied", said))

    async def supersede_call(self, call: ChatCallRow) -> None:
        """End a call because the user sent a message instead of a decision."""
        if (pending := self._core.approvals.find_pending(call.call_id)) is not None:
            await pending.withdraw()
        said = result_text("superseded_running" if call.may_have_started else "superseded")
        await self.fail_call(call, ToolError("approval_denied", said))

    async def skip_call(self, call: ChatCallRow, failed_tool: str) -> None:
        """End a call that has not started, because one before it in the same answer failed."""
        if (pending := self._core.approvals.find_pending(call.call_id)) is not None:
            await pending.withdraw()
        await self.fail_call(call, skipped_error(failed_tool), is_told=True)

    async def interrupt_call(self, call: ChatCallRow) -> None:
        """End a call that was running when the last process or turn ended; its effect is unknown."""
        await self.fail_call(call, ToolError("interrupted", result_text("interrupted")), is_told=True)

    async def fail_call(self, call: ChatCallRow, error: ToolError, *, is_told: bool = False) -> None:
        """End a call that did not run, or whose outcome is unknown, with an error."""
        envelope = {"ok": False, "callId": call.call_id, "error": error.to_json()}
        await self._store_result(call, call.state, error_output(error), json.dumps(envelope))
        self._stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=is_told)

    async def complete_call(self, call: ChatCallRow, said: str, data: dict[str, Any]) -> None:
        """End a call that the turn itself carried out.

        Args:
            said: The result for the model.
            data: The result for programs.
        """
        envelope = {"ok": True, "content": [{"type": "text", "text": said}], "data": data}
        output = {"ok": True, "blocks": [{"type": "text", "text": said}]}
        await self._store_result(call, call.state, output, json.dumps(envelope, ensure_ascii=False))
        self._stream.publish_tool_result(call.tool_name, call.tool_id, envelope)

    async def _finish_call(self, call: ChatCallRow, outcome: CallOutcome, announcement: CallAnnouncement) -> None:
        announcement.close()
        envelope = outcome.encode_envelope().decode()
        registry = self._core.registry
        live = self._stream.live
        live.names_notes.pop(call.tool_id, None)
        reading = ArtifactReading(registry.tools_at(live.current_host(registry)), live.reader)
        result = outcome_output(outcome, source=call.tool_name, reading=reading)
        # store before publishing, so that a client that reacts to the event finds the result
        words = announcement.words or call.words
        await self._store_result(
            call,
            "running",
            result,
            await self._kept.shrink_envelope(envelope, call, outcome.artifact_account),
            words=words,
        )
        self._stream.publish_tool_result(call.tool_name, call.tool_id, json.loads(envelope))

    async def _store_result(
        self, call: ChatCallRow, before: ChatCallState, output: ToolOutput, envelope: str, **more: str
    ) -> None:
        result = json.dumps(output, ensure_ascii=False)
        await self._chats.move_call(
            call.session_id, call.tool_id, before, "done", result=result, envelope=envelope, **more
        )

    async def _move_state(self, call: ChatCallRow, before: ChatCallState, after: ChatCallState) -> bool:
        return await self._chats.move_call(call.session_id, call.tool_id, before, after)

    def _find_verdict(self, call_id: str) -> Verdict | None:
        """Return the user's decision on a call that has not started."""
        pending = self._core.approvals.find_pending(call_id)
        return None if pending is None else pending.verdict

    def _build_request(
        self, call: ChatCallRow, call_id: str | None = None, *, planned_id: str | None = None, waits: bool = False
    ) -> CallRequest:
        return CallRequest(
            call.tool_name,
            json.loads(call.arguments),
            Principal("chat", call.session_id),
            session_id=call.session_id,
            call_id=call_id,
            planned_id=planned_id,
            waits_for_approval=waits,
            agent_id=self._stream.live.agent_id,
            reader=self._stream.live.reader,
            session_owner=self._stream.live.owner,
            names_note=self._stream.live.names_notes.get(call.tool_id, ""),
        )
