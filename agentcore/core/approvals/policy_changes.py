"""Changes of what is allowed that wait for a person: shown with their diff, applied when confirmed, and only then."""

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from agentcore.api import Principal
from agentcore.bounds import APPROVAL_SECONDS, POLICY_CHANGES_WAITING
from agentcore.core.events import EventBus
from agentcore.core.policy.authority import owner_of
from agentcore.errors import ToolError
from agentcore.store.record import Record
from agentcore.store.record.call_row import make_notice_row

log = structlog.get_logger(__name__)

Apply = Callable[[], Awaitable[object]]
"""Carries a change out, exactly as it was shown; raises where that cannot be done any more."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody wants to change.

    Args:
        kind: What is changed: `settings`, `module`, `secret`, …; a word for whoever shows it.
        subject: Which one: a file, a module, a provider.
        paths: The settings that change, as JSON Pointers; or whatever else names the parts of the change.
        diff: File and unified diff, with secrets masked; of what is no file, lines that begin with a sign.
        lasts: Whether it waits as long as the server runs: what it is about does not change by itself.
    """

    kind: str
    subject: str
    paths: tuple[str, ...] = ()
    diff: tuple[tuple[str, str], ...] = ()
    lasts: bool = False

    def covers(self, earlier: "Proposal") -> bool:
        """Whether nothing is left of an earlier proposal once this one is applied: it says all the same parts anew."""
        is_same_thing = (self.kind, self.subject) == (earlier.kind, earlier.subject)
        return is_same_thing and all(
            any(path == own or path.startswith(f"{own}/") for own in self.paths) for path in earlier.paths
        )


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One proposal that waits.

    Args:
        change_id: Its id; what it stands for never changes.
        expires_at_ms: Milliseconds since 1970; None: it lasts.
    """

    change_id: str
    proposal: Proposal
    principal: Principal
    requested_at_ms: int
    expires_at_ms: int | None


@dataclass(slots=True)
class _Waiting:
    change: PolicyChange
    apply: Apply = field(repr=False)
    refuse: Apply | None = field(repr=False)


class PolicyChanges:
    """Keeps proposals: each is decided once, and expires.

    In memory only: a diff is against files that may be others after a restart, and whoever wanted the change is told
    of its end by the connection's own. Nothing was acknowledged but that it waits.
    """

    def __init__(self, events: EventBus, record: Record, wait_s: float = APPROVAL_SECONDS) -> None:
        self._events, self._record, self._wait_s = events, record, wait_s
        self._waiting: dict[str, _Waiting] = {}

    @property
    def waiting(self) -> list[PolicyChange]:
        """What nobody has decided yet, oldest first."""
        self._drop_expired()
        return [entry.change for entry in self._waiting.values()]

    def propose_change(
        self, proposal: Proposal, principal: Principal, apply: Apply, refuse: Apply | None = None
    ) -> PolicyChange:
        """Have a person decide on a change; `refuse` is what else their no means, beside that nothing is changed.

        It takes the place of what the same one asked for before about the same parts, such as a key with a mistake.

        Raises:
            ToolError: `too_many_waiting`.
        """
        self._drop_expired()
        for earlier in [entry.change for entry in self._waiting.values() if entry.refuse is None]:
            if earlier.principal == principal and proposal.covers(earlier.proposal):
                self.withdraw_change(earlier.change_id)
        # by who asks: a program or client that asks without end leaves room for the page, the server and other clients
        asked = [owner_of(entry.change.principal) for entry in self._waiting.values()]
        if asked.count(owner_of(principal)) >= POLICY_CHANGES_WAITING:
            message = f"{POLICY_CHANGES_WAITING} changes wait for a person already; let some be decided first"
            raise ToolError("too_many_waiting", message, retryable=True, limit=POLICY_CHANGES_WAITING)
        now_ms = time.time_ns() // 1_000_000
        expires_at_ms = None if proposal.lasts else now_ms + int(self._wait_s * 1000)
        change = PolicyChange(f"change_{secrets.token_hex(8)}", proposal, principal, now_ms, expires_at_ms)
        self._waiting[change.change_id] = _Waiting(change, apply, refuse)
        self._events.publish(
            "policy.requested",
            {
                "changeId": change.change_id,
                "kind": proposal.kind,
                "subject": proposal.subject,
                "expiresAt": expires_at_ms,
            },
        )
        return change

    async def decide_change(self, change_id: str, *, approved: bool, by: str) -> None:
        """Apply a change, or refuse it; the second word on one change finds nothing.

        Raises:
            ToolError: `change_not_found`: unknown, expired, or decided already; or what keeps it from being applied.
        """
        self._drop_expired()
        entry = self._waiting.pop(change_id, None)
        if entry is None:
            message = f"no change {change_id!r} waits: it was decided, or has expired"
            raise ToolError("change_not_found", message, change_id=change_id)
        if not approved:
            self._publish_end(entry.change, "refused", by)
            if entry.refuse is not None:
                await entry.refuse()
            return
        try:
            await entry.apply()
        except BaseException:
            self._publish_end(entry.change, "failed", by)
            raise
        self._publish_end(entry.change, "applied", by)

    def withdraw_change(self, change_id: str) -> None:
        """Take a proposal back that has become pointless; one that does not wait any more is ignored."""
        entry = self._waiting.pop(change_id, None)
        if entry is not None:
            self._publish_end(entry.change, "withdrawn", "")

    def withdraw_all_of(self, name: str) -> None:
        """Take back what somebody asked for who may ask no more.

        Args:
            name: The principal's.
        """
        for change in self.waiting:
            if change.principal.name == name:
                self.withdraw_change(change.change_id)

    def refuse_all(self, by: str) -> int:
        """Refuse whatever waits; gives how many."""
        entries, self._waiting = list(self._waiting.values()), {}
        for entry in entries:
            self._publish_end(entry.change, "refused", by)
        return len(entries)

    def _drop_expired(self) -> None:
        now_ms = time.time_ns() // 1_000_000
        ends = {key: entry.change.expires_at_ms for key, entry in self._waiting.items()}
        for key in [key for key, end_ms in ends.items() if end_ms is not None and end_ms <= now_ms]:
            self._publish_end(self._waiting.pop(key).change, "expired", "")

    def _publish_end(self, change: PolicyChange, outcome: str, by: str) -> None:
        proposal = change.proposal
        row = make_notice_row(f"policy_{outcome}", kind=proposal.kind, subject=proposal.subject, paths=proposal.paths)
        self._record.append(
            row._replace(
                principal_kind=change.principal.kind,
                principal_id=change.principal.id,
                decision="allow" if outcome == "applied" else "deny",
                decided_by=by,
            )
        )
        log.info("policy_change_decided", kind=proposal.kind, subject=proposal.subject, outcome=outcome, by=by)
        self._events.publish("policy.decided", {"changeId": change.change_id, "outcome": outcome, "by": by})
