"""Asking a person about one call: bound to exactly this call, answered once, used once."""

import asyncio
import time

from agentcore.errors import ToolError
from agentcore.host.approvals.pending import PendingApproval
from agentcore.host.approvals.queue import ApprovalQueue
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
        approvals: Where it waits.
        policy: Says what may be offered along with it.
    """

    def __init__(self, approvals: ApprovalQueue, policy: ApprovalPolicy) -> None:
        self._approvals, self._policy = approvals, policy

    async def ask(self, call: Call, tool: RegisteredTool, facts: CallFacts) -> ApprovalRequest:
        """Have a person decide on exactly this call; return what was approved, and only when it was.

        Raises:
            ToolError: `approval_required`, `approval_denied`.
        """
        assert call.decision is not None  # noqa: S101 - decided just before
        if call.decision.kind == "deny":
            raise refused(call.decision)
        pending = self._approvals.find(call.id)
        if pending is None:
            request = self._request_approval(call, facts, call.decision)
            # who stays with the call is gone when this process is
            is_kept = not (call.request.waits_for_approval or self._approvals.approver)
            pending = await self._approvals.put(request, is_kept=is_kept)
        elif not pending.is_for(call.digest, tool.definition, call.session_id):
            raise ToolError("approval_denied", "this is not the call that waits: tool, arguments or session differ")
        if self._approvals.approver is not None:
            await self._approvals.decide(call.id, await self._approvals.approver(pending.request))
        elif call.request.waits_for_approval:
            await self._wait_for_person(call, pending)
        verdict = pending.use()
        if verdict is None:
            raise _unanswered(pending)
        call.approval = pending
        call.decided_by = verdict.by
        if not verdict.approved:
            raise _rejected(verdict)
        return pending.request

    async def _wait_for_person(self, call: Call, pending: PendingApproval) -> None:
        if call.notify is not None:
            request = pending.request
            call.notify("approval", {"callId": call.id, "expiresAt": request.expires_at_ms, "reason": request.reason})
        try:
            await pending.wait()
        except asyncio.CancelledError:
            await pending.withdraw()
            raise

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
            expires_at_ms=self._approvals.expires_at_ms(),
            requested_at_ms=time.time_ns() // 1_000_000,
            rule=decision.by,
            untrusted_source=decision.untrusted_source,
            offers=offers_for(facts, decision, self._policy.roots),
            agent_id=facts.agent_id,
            mode=facts.mode,
            resource_id=call.resource.resource_id if call.resource else None,
        )


def _unanswered(pending: PendingApproval) -> ToolError:
    if not pending.is_waiting:
        return ToolError("approval_denied", "nobody answered in time; send the call again without call_id")
    request = pending.request
    return ToolError(
        "approval_required",
        f"this call needs a person's approval ({request.reason}); send the same body again with call_id once given",
        retryable=True,
        callId=request.call_id,
        expiresAt=request.expires_at_ms,
    )


def _rejected(verdict: Verdict) -> ToolError:
    if verdict.reason:
        message = f"a person rejected this call: {verdict.reason}"
        return ToolError("approval_denied", message, by=verdict.by, reason=verdict.reason)
    return ToolError("approval_denied", "a person rejected this call; ask what they want instead", by=verdict.by)


def refused(decision: Decision) -> ToolError:
    """The error of a call that the policy refuses."""
    return ToolError("approval_denied", f"the policy refuses this call: {decision.reason}", rule=decision.by)
