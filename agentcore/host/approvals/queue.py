"""Calls that wait for a person. Approving is for whoever holds the authority; this file only keeps the desk."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from agentcore.api.definition import ToolDefinition
from agentcore.errors import ToolError
from agentcore.host.approvals.request import ApprovalRequest, Approver, Reviewer, Verdict
from agentcore.host.approvals.stored import read_request, read_verdict, request_text, tool_of, verdict_text
from agentcore.host.calls.errors import unrecorded
from agentcore.host.events import EventBus
from agentcore.host.policy.approval_policy import ApprovalPolicy
from agentcore.host.policy.grants import grant_row
from agentcore.host.policy.offers import host_offers
from agentcore.limits import APPROVAL_SECONDS, APPROVALS_WAITING, EDITS_KEPT
from agentcore.store import CallRow, Store
from agentcore.store.approvals.rows import ApprovalRow, GrantRow, SourceRow
from agentcore.store.state.errors import RecordWriteError

__all__ = ["ApprovalDesk", "ApprovalRequest", "Approver", "Verdict"]

log = structlog.get_logger(__name__)

_ASKS_ONCE_A_HOST = frozenset(("mode:ask_writes", "untrusted"))


@dataclass(slots=True)
class _Waiting:
    request: ApprovalRequest
    asked_digest: str
    is_stored: bool
    verdict: Verdict | None = None
    is_being_decided: bool = False
    edits: dict[str, ApprovalRequest] = field(default_factory=dict)
    decided: asyncio.Event = field(default_factory=asyncio.Event)


class ApprovalDesk:
    """Keeps calls that wait: each is decided once, used once, and expires.

    A decision is committed when it is acknowledged. Calls whose callers do not stay outlive the process; what was
    decided on those, and what was allowed for later, survives a power cut too.

    Args:
        events: Where `approval.requested` and `approval.decided` are published.
        store: Where calls and decisions are kept.
        policy: Learns what a person allows for later.
        wait_s: How long a call waits.
    """

    def __init__(
        self, events: EventBus, store: Store, policy: ApprovalPolicy, wait_s: float = APPROVAL_SECONDS
    ) -> None:
        self._events, self._store, self._policy, self._wait_s = events, store, policy, wait_s
        self._waiting: dict[str, _Waiting] = {}
        self._is_closed = False
        self.approver: Approver | None = None
        self.reviewer: Reviewer | None = None

    @property
    def waiting(self) -> list[ApprovalRequest]:
        """Calls that nobody has decided yet, oldest first."""
        self._drop_expired()
        return [entry.request for entry in self._waiting.values() if entry.verdict is None]

    @property
    def unused(self) -> list[tuple[ApprovalRequest, Verdict]]:
        """Calls that were decided and have not begun, as after a restart."""
        return [(entry.request, entry.verdict) for entry in self._waiting.values() if entry.verdict is not None]

    def expiry_ms(self) -> int:
        """When a call that is put on the desk now expires, in milliseconds since 1970."""
        return _now_ms() + int(self._wait_s * 1000)

    async def restore(self, definition_of: Callable[[str], ToolDefinition | None]) -> None:
        """Lay the calls on the desk again that the last process left there; those whose tool has changed stay away."""
        for row in await self._store.approvals.calls(_now_ms()):
            definition = definition_of(tool_of(row.request))
            read = definition and read_request(row.call_id, row.session_id, row.request, row.expires_at_ms, definition)
            if not read:
                log.info("approval_dropped", call_id=row.call_id, tool=tool_of(row.request))
                continue
            request, asked_digest = read
            entry = _Waiting(request, asked_digest, is_stored=True)
            self._waiting[row.call_id] = entry
            if row.verdict is None:
                self._tell_request(request)
            else:
                entry.verdict = read_verdict(row.verdict)
                entry.decided.set()

    async def put(self, request: ApprovalRequest, *, is_kept: bool = True) -> None:
        """Lay a call on the desk.

        Args:
            request: The call.
            is_kept: Whether it outlives this process: nobody stays with it who would be gone by then.
        Raises:
            ToolError: `too_many_waiting`.
        """
        self._drop_expired()
        if len(self._waiting) >= APPROVALS_WAITING:
            raise ToolError(
                "too_many_waiting",
                f"{APPROVALS_WAITING} calls wait for a person already; let some be decided first",
                retryable=True,
                limit=APPROVALS_WAITING,
            )
        digest = request.arguments_digest
        self._waiting[request.call_id] = _Waiting(request, digest, is_stored=is_kept)
        if is_kept:
            text = request_text(request, digest)
            row = ApprovalRow(request.call_id, request.session_id, text, None, request.expires_at_ms)
            await self._store.approvals.put(row)
        self._tell_request(request)

    async def edit(self, call_id: str, arguments: dict[str, Any]) -> ApprovalRequest:
        """What a call that waits would be with arguments of a person: checked as any, and ready to be shown.

        The call goes on waiting as it was asked for; a verdict with the digest of what this gives runs it so.

        Raises:
            ToolError: `approval_not_found`; or why the call cannot run with them.
        """
        entry = self._undecided(call_id)
        assert self.reviewer is not None  # noqa: S101 - the host has set it
        edited = await self.reviewer(entry.request, arguments)
        entry.edits.pop(edited.arguments_digest, None)
        entry.edits[edited.arguments_digest] = edited
        while len(entry.edits) > EDITS_KEPT:
            del entry.edits[next(iter(entry.edits))]
        return edited

    async def decide(self, call_id: str, verdict: Verdict) -> None:
        """Record what a person said; the second word on one call is refused.

        Raises:
            ToolError: `approval_not_found`: unknown, expired, or decided already; `approval_changed`: nothing with that
                digest was shown; `grant_not_offered`. The call goes on waiting after the last two.
        """
        entry = self._undecided(call_id)
        request = _shown(entry, verdict.digest)
        grants = _grants_of(request, verdict)
        sources = self._accepted(request, verdict)
        entry.is_being_decided = True
        try:
            if entry.is_stored or grants or sources:
                text = request_text(request, entry.asked_digest)
                await self._store.approvals.decide(call_id, verdict_text(verdict), text, grants, sources)
        finally:
            entry.is_being_decided = False
        entry.request, entry.verdict = request, verdict
        self._policy.grants.add(grants)
        self._policy.sources.add(sources)
        entry.decided.set()  # first, so that a call that waits has begun when the record is written
        self._store.record.append(_decision_row(request, verdict))
        if not entry.is_stored:
            # nothing but the record holds it; a call that waits for it begins in the same commit
            try:
                await self._store.record.flush()
            except RecordWriteError as exc:
                raise unrecorded(exc) from exc
        data = {"callId": call_id, "approved": verdict.approved, "by": verdict.by}
        self._events.publish("approval.decided", data, session_id=request.session_id)

    async def wait(self, call_id: str) -> None:
        """Return when the call is decided or expired, or the desk is closed."""
        entry = self._waiting.get(call_id)
        if entry is None:
            return
        left = entry.request.expires_at_ms / 1000 - time.time()
        try:
            async with asyncio.timeout(left):
                await entry.decided.wait()
        except TimeoutError:
            self._drop_expired()

    def find(self, call_id: str, digest: str | None = None) -> ApprovalRequest | None:
        """The call, if it waits or is decided and not used yet; with a digest as it was edited, if it was shown so."""
        self._drop_expired()
        entry = self._waiting.get(call_id)
        return None if entry is None else entry.edits.get(digest or "", entry.request)

    def is_for(self, call_id: str, asked_digest: str, definition: ToolDefinition, session_id: str) -> bool:
        """Whether the call on the desk is exactly this one, as the caller asked for it."""
        entry = self._waiting.get(call_id)
        return entry is not None and (entry.asked_digest, entry.request.definition, entry.request.session_id) == (
            asked_digest,
            definition,
            session_id,
        )

    def verdict_of(self, call_id: str) -> Verdict | None:
        """What was said of the call so far; the entry stays."""
        entry = self._waiting.get(call_id)
        return None if entry is None else entry.verdict

    def is_kept(self, call_id: str) -> bool:
        """Whether the call outlives this process; calls whose callers stay with them do not."""
        entry = self._waiting.get(call_id)
        return entry is not None and entry.is_stored

    def take(self, call_id: str) -> Verdict | None:
        """Use up the verdict: it is given once; None when there is none (yet).

        On the disk it is used up when the call begins, or by `forget`.
        """
        entry = self._waiting.get(call_id)
        if entry is None or entry.verdict is None:
            return None
        del self._waiting[call_id]
        return entry.verdict

    async def forget(self, call_id: str) -> None:
        """Use up on the disk what was said of a call that does not begin."""
        await self._store.approvals.remove(call_id)

    async def withdraw(self, call_id: str) -> None:
        """Take a call from the desk: who waited for it has gone. Unknown ids are ignored."""
        entry = self._waiting.pop(call_id, None)
        if entry is not None and entry.is_stored:
            await self.forget(call_id)

    async def reject_all(self, by: str) -> int:
        """Reject whatever waits; gives how many."""
        rejected = 0
        for request in self.waiting:
            try:
                await self.decide(request.call_id, Verdict(approved=False, by=by))
            except ToolError as exc:
                log.info("approval_not_rejected", call_id=request.call_id, error=exc.type)
            else:
                rejected += 1
        return rejected

    def close(self) -> None:
        """Let go whoever waits for a decision; what is kept waits again in the next process."""
        for entry in self._waiting.values():
            entry.decided.set()

    # -- a decision --------------------------------------------------------------------------------------------

    def _undecided(self, call_id: str) -> _Waiting:
        self._drop_expired()
        entry = self._waiting.get(call_id)
        if entry is None or entry.verdict is not None or entry.is_being_decided:
            raise _not_found(call_id)
        return entry

    def _accepted(self, request: ApprovalRequest, verdict: Verdict) -> list[SourceRow]:
        """The untrusted sources that the question named: one answer covers them in this session."""
        if not verdict.approved or request.untrusted_source is None:
            return []
        return [
            row._replace(accepted_by=verdict.by)
            for row in self._policy.sources.open_ones(request.session_id)
            if row.seen_at_ms <= request.requested_at_ms
        ]

    def _tell_request(self, request: ApprovalRequest) -> None:
        data = {"callId": request.call_id, "tool": request.definition.name, "expiresAt": request.expires_at_ms}
        self._events.publish("approval.requested", data, session_id=request.session_id)

    def _drop_expired(self) -> None:
        """Let go what waited too long; the disk lets go of it at the next start."""
        now = _now_ms()
        for call_id, entry in list(self._waiting.items()):
            if entry.request.expires_at_ms <= now and not entry.is_being_decided:
                del self._waiting[call_id]
                entry.decided.set()


def _shown(entry: _Waiting, digest: str | None) -> ApprovalRequest:
    """What the person was shown: the call as it was asked for, or as one of them has edited it.

    Raises:
        ToolError: `approval_changed`.
    """
    if digest is None or digest == entry.request.arguments_digest:
        return entry.request
    if digest in entry.edits:
        return entry.edits[digest]
    message = "the call that waits is not the one that was shown; look at it again"
    call_id, waiting = entry.request.call_id, entry.request.arguments_digest
    raise ToolError("approval_changed", message, call_id=call_id, digest=waiting)


def _grants_of(request: ApprovalRequest, verdict: Verdict) -> list[GrantRow]:
    """What an approval allows for later.

    Raises:
        ToolError: `grant_not_offered`.
    """
    if verdict.grant is not None and (not verdict.approved or verdict.grant not in request.offers):
        message = "a call is approved with one of the offers that it was shown with, or with none"
        raise ToolError("grant_not_offered", message, grant=verdict.grant.to_json())
    if not verdict.approved:
        return []
    row = partial(grant_row, session_id=request.session_id, principal_kind=request.principal.kind, by=verdict.by)
    hosts = host_offers(request.facts) if request.rule in _ASKS_ONCE_A_HOST else ()
    taken = () if verdict.grant is None else (verdict.grant,)
    return [*(row(offer, is_host=True) for offer in hosts), *map(row, taken)]


def _decision_row(request: ApprovalRequest, verdict: Verdict) -> CallRow:
    return CallRow(
        time_ms=_now_ms(),
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


def _not_found(call_id: str) -> ToolError:
    return ToolError("approval_not_found", f"no call {call_id!r} waits for a decision", call_id=call_id)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
