"""Calls that wait for a person. Approving is for whoever holds the authority; this file only keeps the desk."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agentcore.api.context import Principal
from agentcore.api.definition import CallPreview, ToolDefinition
from agentcore.api.errors import ToolError
from agentcore.host.events import EventBus
from agentcore.host.grants import GrantOffer
from agentcore.host.limits import APPROVAL_SECONDS, APPROVALS_WAITING


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One call as a person has to see it: bound to its id, its session, its definition and its exact arguments.

    Args:
        call_id: The host's id of it.
        session_id: The session it belongs to.
        principal: Who wants it.
        definition: The tool, as it was when the call was laid on the desk.
        arguments: Exactly what it would run with.
        arguments_digest: sha256 of their JSON text.
        reason: Why it is asked about, for a person.
        preview: What it would touch; None: the tool cannot say.
        expires_at_ms: Until when it can be decided, in milliseconds since 1970.
        requested_at_ms: When it was asked for.
        rule: What asks: `approvals.rules[2]`, `mode:ask`, `protected`, `untrusted`.
        untrusted_source: Where content comes from that the model has read and that may be behind the call.
        offers: What a person may allow for later calls along with this one.
    """

    call_id: str
    session_id: str
    principal: Principal
    definition: ToolDefinition
    arguments: dict[str, Any]
    arguments_digest: str
    reason: str
    preview: CallPreview | None
    expires_at_ms: int
    requested_at_ms: int = 0
    rule: str = ""
    untrusted_source: str | None = None
    offers: tuple[GrantOffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the person said, and who it was.

    Args:
        approved: Whether the call may run.
        by: Who said so: `terminal`, `approver:NAME`, `test`.
        arguments: What the call runs with instead, as the person edited it; None: as it was asked for.
        grant: One of the request's offers that the person took.
    """

    approved: bool
    by: str
    arguments: dict[str, Any] | None = None
    grant: GrantOffer | None = None


Approver = Callable[[ApprovalRequest], Awaitable[Verdict]]
"""A person at the terminal of the host's own process."""


@dataclass(slots=True)
class _Waiting:
    request: ApprovalRequest
    verdict: Verdict | None = None
    decided: asyncio.Event = field(default_factory=asyncio.Event)


class ApprovalDesk:
    """Keeps calls that wait: each is decided once, used once, and expires."""

    def __init__(self, events: EventBus, wait_s: float = APPROVAL_SECONDS) -> None:
        self._events, self._wait_s = events, wait_s
        self._waiting: dict[str, _Waiting] = {}
        self.approver: Approver | None = None

    @property
    def waiting(self) -> list[ApprovalRequest]:
        """Calls that nobody has decided yet, oldest first."""
        self._drop_expired()
        return [entry.request for entry in self._waiting.values() if entry.verdict is None]

    def expiry_ms(self) -> int:
        """When a call that is put on the desk now expires, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + int(self._wait_s * 1000)

    async def put(self, request: ApprovalRequest) -> None:
        """Lay a call on the desk.

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
        self._waiting[request.call_id] = _Waiting(request)
        data = {"callId": request.call_id, "tool": request.definition.name, "expiresAt": request.expires_at_ms}
        self._events.publish("approval.requested", data, session_id=request.session_id)

    async def decide(self, call_id: str, verdict: Verdict) -> None:
        """Record what a person said; the second word on one call is refused.

        Raises:
            ToolError: `approval_not_found`: unknown, expired, or decided already.
        """
        self._drop_expired()
        entry = self._waiting.get(call_id)
        if entry is None or entry.verdict is not None:
            raise ToolError("approval_not_found", f"no call {call_id!r} waits for a decision", call_id=call_id)
        entry.verdict = verdict
        entry.decided.set()
        data = {"callId": call_id, "approved": verdict.approved, "by": verdict.by}
        self._events.publish("approval.decided", data, session_id=entry.request.session_id)

    async def wait(self, call_id: str) -> None:
        """Return when the call is decided or expired."""
        entry = self._waiting.get(call_id)
        if entry is None:
            return
        left = entry.request.expires_at_ms / 1000 - time.time()
        try:
            await asyncio.wait_for(entry.decided.wait(), max(left, 0))
        except TimeoutError:
            self._drop_expired()

    def find(self, call_id: str) -> ApprovalRequest | None:
        """The call, if it waits or is decided and not used yet."""
        self._drop_expired()
        entry = self._waiting.get(call_id)
        return None if entry is None else entry.request

    def verdict_of(self, call_id: str) -> Verdict | None:
        """What was said of the call so far; the entry stays."""
        entry = self._waiting.get(call_id)
        return None if entry is None else entry.verdict

    def take(self, call_id: str) -> Verdict | None:
        """Use up the verdict: it is given once; None when there is none (yet)."""
        entry = self._waiting.get(call_id)
        if entry is None or entry.verdict is None:
            return None
        del self._waiting[call_id]
        return entry.verdict

    def withdraw(self, call_id: str) -> None:
        """Take a call from the desk: who waited for it has gone. Unknown ids are ignored."""
        self._waiting.pop(call_id, None)

    async def reject_all(self, by: str) -> int:
        """Reject whatever waits; gives how many."""
        rejected = self.waiting
        for request in rejected:
            await self.decide(request.call_id, Verdict(approved=False, by=by))
        return len(rejected)

    def _drop_expired(self) -> None:
        now = time.time_ns() // 1_000_000
        for call_id in [key for key, entry in self._waiting.items() if entry.request.expires_at_ms <= now]:
            entry = self._waiting.pop(call_id)
            entry.decided.set()
