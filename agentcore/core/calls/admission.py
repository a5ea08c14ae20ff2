"""Decides which calls the core accepts: the limits that are checked before anything else."""

import re
from collections.abc import MutableMapping

from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.calls.call import Call
from agentcore.errors import ToolError
from agentcore.limits import CALL_NESTING

_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def admit_call(
    call: Call, in_flight: MutableMapping[str, Call], limit: int, approvals: ApprovalQueue, stopped: str | None
) -> None:
    """Put a call among those in flight, or refuse it.

    Raises:
        ToolError: `stopped`, `invalid_arguments`, `approval_not_found`, `call_in_flight`, `too_many_calls`,
            `cancelled`, `nesting_too_deep`.
    """
    request = call.request
    if stopped is not None:
        raise ToolError("stopped", stopped)
    if not _SESSION_ID.fullmatch(call.session_id):
        raise ToolError(
            "invalid_arguments", "session_id must match ^[A-Za-z0-9_-]{1,64}$", session_id=call.session_id[:100]
        )
    if request.timeout_ms is not None and request.timeout_ms <= 0:
        raise ToolError("invalid_arguments", "timeout_ms must be at least 1", timeout_ms=request.timeout_ms)
    # the core assigns ids: a caller has one from a call that waits, and from nowhere else
    if request.call_id is not None:
        _check_sent_again(call, approvals)
    if call.id in in_flight:
        raise ToolError("call_in_flight", f"call {call.id!r} is on its way already", call_id=call.id)
    if len(in_flight) >= limit:
        raise ToolError("too_many_calls", f"{limit} calls are on their way; try again", retryable=True, limit=limit)
    if request.parent_call_id is not None:
        _link_to_parent(call, in_flight.get(request.parent_call_id))
    in_flight[call.id] = call
    # last: a listener may cancel the call, which must be among those in flight
    if call.notify is not None and not call.is_notified_by_parent:
        call.notify("accepted", {"callId": call.id})


def _check_sent_again(call: Call, approvals: ApprovalQueue) -> None:
    pending = approvals.find_pending(call.id)
    # another caller's call is treated as unknown
    if pending is None or pending.request.principal != call.request.principal:
        raise ToolError(
            "approval_not_found",
            f"no call {call.id!r} waits for approval: it ran, was rejected or has expired; send it without call_id",
            call_id=call.id,
        )


def _link_to_parent(call: Call, parent: Call | None) -> None:
    """Bind a call to the one that makes it: it has no more time, and nests no deeper than the limit."""
    if parent is None:
        raise ToolError("cancelled", f"the call {call.request.parent_call_id!r} that made this one has ended")
    call.parent = parent
    call.deadline = parent.deadline
    parent.has_inner = True
    if sum(1 for _ in call.ancestors()) > CALL_NESTING:
        raise ToolError(
            "nesting_too_deep", f"tools call tools {CALL_NESTING} deep; that is the bound", limit=CALL_NESTING
        )
