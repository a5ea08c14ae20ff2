"""Calls that wait for the user. `approving.py` decides who may approve; here each call is decided once."""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog

from agentcore.api import ToolDefinition
from agentcore.approval_rules.decisions import MODES_THAT_READ
from agentcore.core.approvals.approval_json import (
    caller_of,
    host_of,
    read_request,
    read_verdict,
    request_text,
    target_of,
    tool_of,
    verdict_text,
)
from agentcore.core.approvals.pending_approval import PendingApproval, now_ms
from agentcore.core.approvals.request import ApprovalRequest, Approver, LookAgain, Verdict
from agentcore.core.events import EventBus
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.authority import USER_ACCOUNT, Decision
from agentcore.core.policy.grant_offers import host_offers
from agentcore.core.policy.grants import grant_row
from agentcore.errors import ToolError
from agentcore.limits import (
    APPROVAL_SECONDS,
    APPROVALS_WAITING,
    APPROVALS_WAITING_BYTES_PER_CALLER,
    APPROVALS_WAITING_PER_CALLER,
)
from agentcore.store.approvals.approval_rows import ApprovalRow, GrantRow, SourceRow
from agentcore.store.record.call_row import CallRow
from agentcore.store.state.state_errors import RecordWriteError
from agentcore.store.store import Store

__all__ = ["ApprovalQueue", "ApprovalRequest", "Approver", "PendingApproval", "Verdict"]

log = structlog.get_logger(__name__)

FindDefinition = Callable[[str, str], ToolDefinition | None]
"""Returns the current definition of a tool on a host; None: it is not there."""

_ASKS_ONCE_A_HOST = frozenset((*(f"mode:{mode}" for mode in MODES_THAT_READ), "untrusted"))


class ApprovalQueue:
    """Stores calls that wait for a decision. Each is decided once and used once.

    A call waits as long as its session exists. A decision that is not used expires after `used_within_s`.
    A decision is committed when it is acknowledged. Calls whose callers do not wait survive the process; decisions
    about those, and grants, survive a power cut too.

    Attributes:
        approver: The user at the terminal of this process, who is asked at once; None: there is none.
        look_again: Prepares a call once more when it is approved; None: the shown request is used.
    """

    def __init__(
        self, events: EventBus, store: Store, policy: ApprovalPolicy, used_within_s: float = APPROVAL_SECONDS
    ) -> None:
        self._events = events
        self._store = store
        self._policy = policy
        self._used_within_s = used_within_s
        self._pending: dict[str, PendingApproval] = {}
        self._away: list[ApprovalRow] = []
        self._dropped: list[str] = []
        self._has_restored = False
        self.approver: Approver | None = None
        self.look_again: LookAgain | None = None

    def ask_at_terminal(self, approver: Approver | None) -> None:
        """Set the user at the terminal who is asked as soon as a call needs approval; None: calls wait."""
        self.approver = approver

    @property
    def waiting(self) -> list[ApprovalRequest]:
        """Calls that are announced and not decided yet, oldest first."""
        self._drop_expired()
        found = [each.request for each in self._pending.values() if each.verdict is None and each.is_announced]
        # those of the last process come back in the order in which their modules start
        return sorted(found, key=lambda request: request.requested_at_ms)

    @property
    def unused_verdicts(self) -> list[tuple[ApprovalRequest, Verdict]]:
        """Calls that were decided and have not begun, as after a restart."""
        return [(each.request, each.verdict) for each in self._pending.values() if each.verdict is not None]

    def find_pending(self, call_id: str) -> PendingApproval | None:
        """Return a call that waits, or was decided and has not begun; None: there is none with this id."""
        self._drop_expired()
        return self._pending.get(call_id)

    def find_undecided(self, call_id: str) -> PendingApproval:
        """A call that waits for a word.

        Raises:
            ToolError: `approval_not_found`: unknown, withdrawn, or decided already.
        """
        pending = self.find_pending(call_id)
        if pending is None or pending.verdict is not None or pending.is_being_decided:
            raise _not_waiting(call_id)
        return pending

    def targets_left(self) -> list[tuple[str, str, str]]:
        """Return the session, resource id and host of each call that the last process left waiting."""
        return [(row.session_id, target, host) for row in self._away for target, host in target_of(row.request)]

    async def load_calls(self) -> None:
        """Load the calls that the last process left waiting; each is restored once its tool is there."""
        self._away = await self._store.approvals.load_calls(now_ms())

    def restore_calls(self, definition_of: FindDefinition) -> None:
        """Restore the calls whose tools are there; called when the tool list has changed.

        A call whose tool has changed is shown again; an approval for a tool that has changed is dropped.
        """
        away = self._away
        self._away = []
        for row in away:
            if row.expires_at_ms is not None and row.expires_at_ms <= now_ms():
                continue
            try:
                self._restore_call(row, definition_of)
            except (ValueError, KeyError, TypeError, AttributeError) as exc:
                log.warning("approval_unreadable", call_id=row.call_id, error=f"{type(exc).__name__}: {exc}")
                self._dropped.append(row.call_id)

    async def finish_restoring(self, definition_of: FindDefinition) -> None:
        """Drop the calls whose tools no longer exist, now that all modules have started.

        A call on a host that has not come back yet waits for that.
        """
        self.restore_calls(definition_of)
        for row in [row for row in self._away if not host_of(row.request)]:
            self._drop_row(row)
            self._away.remove(row)
        for call_id in self._dropped:
            await self._store.approvals.delete_call(call_id)
        self._dropped = []
        self._has_restored = True

    def _drop_row(self, row: ApprovalRow) -> None:
        log.info("approval_dropped", call_id=row.call_id, tool=tool_of(row.request))
        self._dropped.append(row.call_id)

    def is_away(self, call_id: str) -> bool:
        """True for a call whose tool is not there yet: its host has not come back, or modules are starting."""
        return any(row.call_id == call_id for row in self._away)

    def _restore_call(self, row: ApprovalRow, definition_of: FindDefinition) -> None:
        """Put a call back, if its tool is there."""
        definition = definition_of(tool_of(row.request), host_of(row.request))
        if definition is None:
            self._away.append(row)
            return
        request, asked_digest = read_request(row.call_id, row.session_id, row.request, definition)
        if row.verdict is not None and "tool" in request.changes:
            self._drop_row(row)
            return
        verdict = None if row.verdict is None else read_verdict(row.verdict)
        pending = self._add_pending(request, asked_digest, len(row.request), is_kept=True)
        if verdict is None:
            self._publish_request(request)
            return
        pending.set_verdict(request, verdict, row.expires_at_ms)
        if self._has_restored:
            # at the start, the chat asks for all of these once
            self._publish_decision(request, verdict)

    async def put(self, request: ApprovalRequest, *, is_kept: bool = True) -> PendingApproval:
        """Add a call to the queue.

        Args:
            is_kept: True if it survives this process, because no caller waits for it.
        Raises:
            ToolError: `too_many_waiting`.
        """
        self._drop_expired()
        digest = request.arguments_digest
        text = request_text(request, digest)
        self._check_room(request.account, len(text))
        pending = self._add_pending(request, digest, len(text), is_kept=is_kept)
        if is_kept:
            pending.delay_announcement()
            row = ApprovalRow(request.call_id, request.session_id, text, None, None)
            try:
                await self._store.approvals.save_call(row)
            except asyncio.CancelledError:
                # The write continues, and the caller never learns the id that it could withdraw the call by.
                await pending.withdraw()
                raise
            except BaseException:
                pending.leave_queue("")
                raise
        # after it is on disk: a listener may decide at once
        pending.announce()
        if self._pending.get(request.call_id) is pending:
            self._publish_request(request)
        return pending

    def _check_room(self, account: str, size_bytes: int) -> None:
        """Refuse a call if its caller, or all callers but the user, have used up their capacity.

        Raises:
            ToolError: `too_many_waiting`.
        """
        own = [pending for pending in self._pending.values() if pending.request.account == account]
        if len(own) >= APPROVALS_WAITING_PER_CALLER:
            message = f"{len(own)} calls of this caller wait for approval already; let some be decided first"
            raise _queue_full_error(message, APPROVALS_WAITING_PER_CALLER)
        if sum(pending.size_bytes for pending in own) + size_bytes > APPROVALS_WAITING_BYTES_PER_CALLER:
            limit_bytes = APPROVALS_WAITING_BYTES_PER_CALLER
            message = f"calls of this caller that wait for approval may take {limit_bytes:,} bytes together"
            raise _queue_full_error(f"{message}; let some be decided first, or send less", limit_bytes)
        # the user's capacity is separate: the user's own calls do not block others, and others do not block them
        others = sum(pending.request.account != USER_ACCOUNT for pending in self._pending.values())
        if account != USER_ACCOUNT and others >= (limit := APPROVALS_WAITING - APPROVALS_WAITING_PER_CALLER):
            raise _queue_full_error(f"{limit} calls wait for approval already; let some be decided first", limit)

    async def decide_call(self, call_id: str, verdict: Verdict) -> None:
        """Record the user's decision; a second decision on one call is refused.

        Raises:
            ToolError: `approval_not_found`: unknown, withdrawn, or decided already; `approval_changed`: nothing with
                that digest was shown, or the call has changed, and the changed call is shown from then on;
                `grant_not_offered`; or why the call cannot run. The call keeps waiting after every error but the first.
        """
        pending = self.find_undecided(call_id)
        shown = pending.as_shown(verdict.digest)
        grants = _grants_of(shown, verdict)
        # the disk first: a word that was acknowledged is never lost; and no second one comes in between
        pending.is_being_decided = True
        try:
            if verdict.approved and not verdict.is_by_policy and self.look_again is not None:
                await self._check_unchanged(pending, shown, await self.look_again(shown))
            sources = self._accepted_sources(shown, verdict)
            expires_at_ms = now_ms() + int(self._used_within_s * 1000)
            if pending.is_kept or grants or sources:
                text = request_text(shown, pending.asked_digest)
                row = ApprovalRow(call_id, shown.session_id, text, verdict_text(verdict), expires_at_ms)
                await self._store.approvals.save_decision(row, grants, sources)
            if self._pending.get(call_id) is not pending:
                for grant in grants:
                    await self._store.approvals.delete_grant(grant.grant_id)
                raise _not_waiting(call_id)
        finally:
            pending.is_being_decided = False
        self._policy.grants.add(grants)
        self._policy.sources.add(sources)
        # first, so that a call that waits has begun when the record is written
        pending.set_verdict(shown, verdict, expires_at_ms)
        self._store.record.append(_decision_row(shown, verdict))
        if not pending.is_kept:
            # only the record contains it; a call that waits for it begins in the same commit
            try:
                await self._store.record.flush()
            except RecordWriteError as exc:
                raise exc.as_tool_error() from exc
        self._publish_decision(shown, verdict)
        for grant in grants:
            if grant.scope != "host":
                self._events.publish("grant.given", {"grantId": grant.grant_id, "tool": grant.tool})

    def find_waiting_in(self, session_id: str | None) -> list[PendingApproval]:
        """Return the calls of a session that wait for a decision, or of all sessions; also those not listed yet."""
        self._drop_expired()
        return [
            pending
            for pending in self._pending.values()
            if pending.verdict is None and session_id in (None, pending.request.session_id)
        ]

    async def apply_policy(
        self, pending: PendingApproval, asked: ApprovalRequest, now: ApprovalRequest, decision: Decision
    ) -> None:
        """Apply a new decision of the policy to a call that waits: it runs, is refused, or is shown as it is now.

        A call that was decided or changed in the meantime stays as it is.

        Args:
            pending: The call in the queue.
            asked: The request that was looked at.
            now: The request as it would be made now.
            decision: The decision about it.
        Raises:
            ToolError: `approval_not_found`: it was withdrawn meanwhile; or that the decision cannot be written.
        """
        is_settled = pending.verdict is not None or pending.is_being_decided or pending.request is not asked
        if is_settled or self._pending.get(now.call_id) is not pending:
            return
        if decision.kind != "ask":
            pending.ask_again(now)
            verdict = Verdict(decision.kind == "allow", decision.by, reason=decision.reason, is_by_policy=True)
            await self.decide_call(now.call_id, verdict)
        elif now != asked:
            await self._show_again(pending, now)

    async def reject_all(self, by: str) -> int:
        """Reject all waiting calls, and withdraw approvals whose calls have not begun; return their number."""
        rejected = 0
        for request in self.waiting:
            try:
                await self.decide_call(request.call_id, Verdict(approved=False, by=by))
            except ToolError as exc:
                log.info("approval_not_rejected", call_id=request.call_id, error=exc.type)
            else:
                rejected += 1
        # also one that is being decided on: its decision finds it gone
        others = [each for each in self._pending.values() if each.verdict is None or each.verdict.approved]
        withdrawn = [each for each in others if each.leave_queue("everything was stopped")]
        for pending in withdrawn:
            await pending.delete_stored_request()
        # calls that wait for their host must not begin when it comes back, either
        away = self._away
        self._away = []
        for row in away:
            self._events.publish("approval.withdrawn", {"callId": row.call_id}, session_id=row.session_id)
            await self._store.approvals.delete_call(row.call_id)
        return rejected + len(withdrawn) + len(away)

    def withdraw_calls(self, caller: str, reason: str) -> int:
        """Remove a caller's calls from the queue, including those that were approved and have not begun.

        Stored requests are removed with the caller's key: see `ClientKeys.revoke_client`.

        Args:
            caller: Name of the principal, or the account.
            reason: What is reported to everything that waits for a decision.
        Returns:
            How many calls left the queue.
        """
        self._away = [row for row in self._away if caller not in caller_of(row.request)]
        found = [
            pending
            for pending in self._pending.values()
            if caller in (pending.request.principal.name, pending.request.account)
        ]
        return sum(pending.leave_queue(reason) for pending in found)

    async def withdraw_calls_on(self, host: str, reason: str) -> None:
        """Remove the calls that would run on a host from the queue, including those that were approved and have not
        run."""
        for row in [row for row in self._away if host_of(row.request) == host]:
            self._away.remove(row)
            await self._store.approvals.delete_call(row.call_id)
        for pending in [each for each in self._pending.values() if each.request.host == host]:
            await pending.withdraw(reason)

    async def end_session(self, session_id: str) -> None:
        """Withdraw all calls of a session that has ended."""
        self._away = [row for row in self._away if row.session_id != session_id]
        for pending in [each for each in self._pending.values() if each.request.session_id == session_id]:
            await pending.withdraw()

    def waits_in(self, session_id: str) -> bool:
        """True while a call of the session waits for a decision."""
        return any(request.session_id == session_id for request in self.waiting)

    def close(self) -> None:
        """Wake everything that waits for a decision; stored calls wait again in the next process."""
        for pending in self._pending.values():
            pending.notify_waiters()

    def _add_pending(
        self, request: ApprovalRequest, asked_digest: str, size_bytes: int, *, is_kept: bool
    ) -> PendingApproval:
        pending = PendingApproval(
            request,
            asked_digest,
            size_bytes=size_bytes,
            is_kept=is_kept,
            queue=self._pending,
            store=self._store.approvals,
            events=self._events,
        )
        self._pending[request.call_id] = pending
        return pending

    async def _check_unchanged(self, pending: PendingApproval, shown: ApprovalRequest, now: ApprovalRequest) -> None:
        """Have a call that is another one now asked about again.

        Raises:
            ToolError: `approval_changed`; `approval_not_found`: it was withdrawn meanwhile.
        """
        call_id = shown.call_id
        if self._pending.get(call_id) is not pending:
            raise _not_waiting(call_id)
        if not now.changes:
            return
        if shown is pending.request:
            await self._show_again(pending, now)
        message = f"the call changed while it waited ({', '.join(now.changes)}); look at it again"
        raise ToolError("approval_changed", message, call_id=call_id, changes=list(now.changes))

    async def _show_again(self, pending: PendingApproval, now: ApprovalRequest) -> None:
        """Replace the request that is shown, on disk first."""
        if pending.is_kept:
            text = request_text(now, pending.asked_digest)
            await self._store.approvals.save_call(ApprovalRow(now.call_id, now.session_id, text, None, None))
        pending.ask_again(now)
        data = {"callId": now.call_id, "changes": list(now.changes)}
        self._events.publish("approval.changed", data, session_id=now.session_id)

    def _accepted_sources(self, request: ApprovalRequest, verdict: Verdict) -> list[SourceRow]:
        """The untrusted sources that the question named: one answer covers them in this session."""
        if not verdict.approved or verdict.is_by_policy or request.untrusted_source is None:
            return []
        return [
            row._replace(accepted_by=verdict.by)
            for row in self._policy.sources.open_ones(request.session_id)
            if row.seen_at_ms <= request.requested_at_ms
        ]

    def _publish_decision(self, request: ApprovalRequest, verdict: Verdict) -> None:
        data = {"callId": request.call_id, "approved": verdict.approved, "by": verdict.by}
        self._events.publish("approval.decided", data, session_id=request.session_id)

    def _publish_request(self, request: ApprovalRequest) -> None:
        data = {"callId": request.call_id, "tool": request.definition.name, "expiresAt": None}
        self._events.publish("approval.requested", data, session_id=request.session_id)

    def _drop_expired(self) -> None:
        for pending in [pending for pending in self._pending.values() if pending.is_expired]:
            pending.expire()


def _grants_of(request: ApprovalRequest, verdict: Verdict) -> list[GrantRow]:
    """Return what an approval allows for later."""
    if verdict.grant is not None and (not verdict.approved or verdict.grant not in request.offers):
        message = "a call is approved with one of the offers that it was shown with, or with none"
        raise ToolError("grant_not_offered", message, grant=verdict.grant.to_json())
    if not verdict.approved or verdict.is_by_policy:
        # what the policy lets run now says nothing about later, when another mode applies
        return []
    row = partial(grant_row, session_id=request.session_id, principal_kind=request.principal.kind, by=verdict.by)
    hosts = host_offers(request.facts) if request.rule in _ASKS_ONCE_A_HOST else ()
    taken = () if verdict.grant is None else (verdict.grant,)
    return [*(row(offer, is_host=True) for offer in hosts), *map(row, taken)]


def _not_waiting(call_id: str) -> ToolError:
    return ToolError("approval_not_found", f"no call {call_id!r} waits for a decision", call_id=call_id)


def _queue_full_error(message: str, limit: int) -> ToolError:
    return ToolError("too_many_waiting", message, retryable=True, limit=limit)


def _decision_row(request: ApprovalRequest, verdict: Verdict) -> CallRow:
    return CallRow(
        time_ms=now_ms(),
        call_id=request.call_id,
        tool=request.definition.name,
        kind="decision",
        session_id=request.session_id,
        principal_kind=request.principal.kind,
        principal_id=request.principal.id,
        arguments_digest=request.arguments_digest,
        decision="approve" if verdict.approved else "reject",
        decided_by=verdict.by,
        outcome="ok",
    )
