"""Asking a person about one call: bound to exactly this call, answered once, used once."""

import asyncio
import time

from agentcore.errors import ToolError
from agentcore.host.approvals.queue import ApprovalDesk
from agentcore.host.approvals.request import ApprovalRequest, Verdict
from agentcore.host.calls.call import Call
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.policy.approval_policy import ApprovalPolicy
from agentcore.host.policy.authority import Decision
from agentcore.host.policy.offers import offers_for
from agentcore.rules.call_facts import CallFacts


class Permission:
    """Brings a call that the policy does not let pass before a person.

    Args:
        desk: Where it waits.
        policy: Says what may be offered along with it.
    """

    def __init__(self, desk: ApprovalDesk, policy: ApprovalPolicy) -> None:
        self._desk, self._policy = desk, policy

    async def ask(self, call: Call, tool: RegisteredTool, facts: CallFacts) -> ApprovalRequest:
        """Have a person decide on exactly this call; return what was approved, and only when it was.

        Raises:
            ToolError: `approval_required`, `approval_denied`.
        """
        assert call.decision is not None  # noqa: S101 - decided just before
        if call.decision.kind == "deny":
            raise refused(call.decision)
        waiting = self._desk.find(call.id)
        if waiting is None:
            waiting = self._request_approval(call, facts, call.decision)
            # who stays with the call is gone when this process is
            await self._desk.put(waiting, is_kept=not (call.request.waits_for_approval or self._desk.approver))
        elif not self._desk.is_for(call.id, call.digest, tool.definition, call.session_id):
            raise ToolError("approval_denied", "this is not the call that waits: tool, arguments or session differ")
        if self._desk.approver is not None:
            await self._desk.decide(call.id, await self._desk.approver(waiting))
        elif call.request.waits_for_approval:
            await self._wait_for_person(call, waiting)
        shown = self._desk.find(call.id)
        call.is_kept = self._desk.is_kept(call.id)
        verdict = self._desk.take(call.id)
        if verdict is None or shown is None:
            raise self._unanswered(call, waiting)
        call.is_decided = True
        call.decided_by = verdict.by
        if not verdict.approved:
            raise _rejected(verdict)
        return shown

    async def _wait_for_person(self, call: Call, waiting: ApprovalRequest) -> None:
        if call.notify is not None:
            call.notify("approval", {"callId": call.id, "expiresAt": waiting.expires_at_ms, "reason": waiting.reason})
        try:
            await self._desk.wait(call.id)
        except asyncio.CancelledError:
            await self._desk.withdraw(call.id)
            raise

    def _unanswered(self, call: Call, waiting: ApprovalRequest) -> ToolError:
        if self._desk.find(call.id) is None:
            return ToolError("approval_denied", "nobody answered in time; send the call again without call_id")
        return ToolError(
            "approval_required",
            f"this call needs a person's approval ({waiting.reason}); send the same body again with call_id once given",
            retryable=True,
            callId=call.id,
            expiresAt=waiting.expires_at_ms,
        )

    def _request_approval(self, call: Call, facts: CallFacts, decision: Decision) -> ApprovalRequest:
        return ApprovalRequest(
            call_id=call.id,
            session_id=call.session_id,
            principal=call.request.principal,
            definition=facts.definition,
            arguments=call.request.arguments,
            arguments_digest=call.digest,
            reason=decision.reason,
            preview=call.preview,
            expires_at_ms=self._desk.expiry_ms(),
            requested_at_ms=time.time_ns() // 1_000_000,
            rule=decision.by,
            untrusted_source=decision.untrusted_source,
            offers=offers_for(facts, decision, self._policy.roots),
            agent_id=facts.agent_id,
            mode=facts.mode,
            resource_id=call.resource.resource_id if call.resource else None,
        )


def _rejected(verdict: Verdict) -> ToolError:
    if verdict.reason:
        message = f"a person rejected this call: {verdict.reason}"
        return ToolError("approval_denied", message, by=verdict.by, reason=verdict.reason)
    return ToolError("approval_denied", "a person rejected this call; ask what they want instead", by=verdict.by)


def refused(decision: Decision) -> ToolError:
    """The error of a call that the policy refuses."""
    return ToolError("approval_denied", f"the policy refuses this call: {decision.reason}", rule=decision.by)
