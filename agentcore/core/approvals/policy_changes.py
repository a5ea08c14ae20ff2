"""Policy changes that wait for the user: shown with their diff, and applied only when confirmed."""

import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import field

import structlog

from agentcore.api import Principal
from agentcore.core.events import EventBus
from agentcore.core.policy.authority import owner_of
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import APPROVAL_SECONDS, POLICY_CHANGES_WAITING
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.record import Record

log = structlog.get_logger(__name__)

Apply = Callable[[], Awaitable[object]]
"""Carries a change out, exactly as it was shown; raises where that cannot be done any more."""

ApplyReading = Callable[[frozenset[str]], Awaitable[object]]
"""The same with the tools that the user has chosen to treat as reading."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed change.

    Args:
        kind: What is changed: `settings`, `module`, `secret`, …
        subject: Which one: a file, a module, a provider.
        paths: The settings that change, as JSON Pointers; or other names of the parts of the change.
        diff: File and unified diff, with secrets masked; without a file, lines that begin with a sign.
        lasts: True if it waits as long as the server runs, because its subject does not change by itself.
        session_id: The chat that it is about, whose title is its subject; empty: it is about none.
        reading_tools: Tools that the user may choose to treat as reading when applying the change.
    """

    kind: str
    subject: str
    paths: tuple[str, ...] = ()
    diff: tuple[tuple[str, str], ...] = ()
    lasts: bool = False
    session_id: str = ""
    reading_tools: tuple[str, ...] = ()

    def covers(self, earlier: "Proposal") -> bool:
        """True if this proposal replaces an earlier one completely, because it contains all of its parts."""
        # a chat gets another title while the change waits, and many have none
        own = (self.kind, self.session_id or self.subject)
        is_same_thing = own == (earlier.kind, earlier.session_id or earlier.subject)
        return is_same_thing and all(
            any(path == own or path.startswith(f"{own}/") for own in self.paths) for path in earlier.paths
        )


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One proposal that waits.

    Args:
        change_id: Its id; the content of the proposal never changes.
        expires_at_ms: Milliseconds since 1970; None: it does not expire.
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
    apply_reading: ApplyReading | None = field(repr=False)


class PolicyChanges:
    """Stores proposals: each is decided once, and expires.

    In memory only: a diff refers to files that may differ after a restart, and the client that requested the change
    notices its end by its connection. A client is only ever told that the change waits.
    """

    def __init__(self, events: EventBus, record: Record, wait_s: float = APPROVAL_SECONDS) -> None:
        self._events = events
        self._record = record
        self._wait_s = wait_s
        self._waiting: dict[str, _Waiting] = {}

    @property
    def waiting(self) -> list[PolicyChange]:
        """Changes that are not decided yet, oldest first."""
        self._drop_expired()
        return [entry.change for entry in self._waiting.values()]

    def propose_change(
        self,
        proposal: Proposal,
        principal: Principal,
        apply: Apply,
        refuse: Apply | None = None,
        apply_reading: ApplyReading | None = None,
    ) -> PolicyChange:
        """Request a decision on a change.

        It replaces an earlier proposal of the same principal about the same parts, such as a key with a typo.

        Args:
            proposal: What the user is shown.
            principal: Who requests it.
            apply: Called if the user applies it.
            refuse: Called if the user refuses it.
            apply_reading: Called in place of `apply` if the user has chosen some of `proposal.reading_tools`.

        Raises:
            ToolError: `too_many_waiting`.
        """
        self._drop_expired()
        for earlier in [entry.change for entry in self._waiting.values() if entry.refuse is None]:
            if earlier.principal == principal and proposal.covers(earlier.proposal):
                self.withdraw_change(earlier.change_id)
        # by principal: a program or client that sends endless proposals leaves capacity for the page and other clients
        asked = [owner_of(entry.change.principal) for entry in self._waiting.values()]
        if asked.count(owner_of(principal)) >= POLICY_CHANGES_WAITING:
            message = f"{POLICY_CHANGES_WAITING} changes wait for a person already; let some be decided first"
            raise ToolError("too_many_waiting", message, retryable=True, limit=POLICY_CHANGES_WAITING)
        now_ms = time.time_ns() // 1_000_000
        expires_at_ms = None if proposal.lasts else now_ms + int(self._wait_s * 1000)
        change = PolicyChange(f"change_{secrets.token_hex(8)}", proposal, principal, now_ms, expires_at_ms)
        self._waiting[change.change_id] = _Waiting(change, apply, refuse, apply_reading)
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

    async def decide_change(self, change_id: str, *, approved: bool, by: str, reading: Collection[str] = ()) -> None:
        """Apply a change, or refuse it; a second decision on one change finds nothing.

        Args:
            change_id: The change.
            approved: True to apply it.
            by: Who decides.
            reading: Those of the change's `reading_tools` that are treated as reading from then on.

        Raises:
            ToolError: `change_not_found`: unknown, expired, or decided already; `invalid_arguments`: `reading` has a
                tool that may not be chosen, and the change waits on; or the reason why it cannot be applied.
        """
        self._drop_expired()
        entry = self._waiting.get(change_id)
        if entry is None:
            message = f"no change {change_id!r} waits: it was decided, or has expired"
            raise ToolError("change_not_found", message, change_id=change_id)
        if unknown := sorted(set(reading) - set(entry.change.proposal.reading_tools)):
            message = f"{', '.join(unknown)} cannot be treated as reading: the change offers no such choice"
            raise ToolError("invalid_arguments", message, tools=unknown)
        del self._waiting[change_id]
        if not approved:
            self._publish_end(entry.change, "refused", by)
            if entry.refuse is not None:
                await entry.refuse()
            return
        try:
            if reading and entry.apply_reading is not None:
                await entry.apply_reading(frozenset(reading))
            else:
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
        """Withdraw the proposals of a principal that has lost its rights.

        Args:
            name: The principal's.
        """
        for change in self.waiting:
            if change.principal.name == name:
                self.withdraw_change(change.change_id)

    def refuse_all(self, by: str) -> int:
        """Refuse all waiting changes; return their number."""
        entries = list(self._waiting.values())
        self._waiting = {}
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
                session_id=proposal.session_id,
                principal_kind=change.principal.kind,
                principal_id=change.principal.id,
                decision="allow" if outcome == "applied" else "deny",
                decided_by=by,
            )
        )
        log.info("policy_change_decided", kind=proposal.kind, subject=proposal.subject, outcome=outcome, by=by)
        self._events.publish("policy.decided", {"changeId": change.change_id, "outcome": outcome, "by": by})
