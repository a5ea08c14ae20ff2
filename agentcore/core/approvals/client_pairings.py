"""Clients that request pairing: the user decides about their scopes, and they get their key after the decision."""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import field

import structlog

from agentcore.api.tool_context import KeyScope
from agentcore.core.events import EventBus
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import APPROVAL_SECONDS, PAIRINGS_WAITING
from agentcore.store.credentials.client_keys import ClientKeys, PairedKind
from agentcore.store.credentials.one_time_codes import OneTimeCodes, as_typed, short_code
from agentcore.store.record.call_row import CallRow, make_notice_row
from agentcore.store.record.record import Record

log = structlog.get_logger(__name__)

TICKET_PREFIX = "acpt_"
"""The prefix of every ticket: the secret with which a client that has shown its code fetches its key."""

_TICKET_BYTES = 32


@dataclass(frozen=True, slots=True)
class PairingRequest:
    """The description that a client sends of itself.

    Args:
        origin: The web origin of the request, as its browser reports it; empty: none, for programs.
        scopes: The scopes that it requests; the user decides.
    """

    name: str
    kind: PairedKind
    origin: str
    scopes: frozenset[KeyScope]


@dataclass(frozen=True, slots=True)
class Pairing:
    """One client that waits for the user. Times are in milliseconds since 1970."""

    pairing_id: str
    request: PairingRequest
    requested_at_ms: int
    expires_at_ms: int


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key, for its client only."""

    name: str
    key: str = field(repr=False)
    scopes: frozenset[KeyScope]


@dataclass(slots=True)
class _Waiting:
    pairing: Pairing
    ticket: str = field(repr=False)
    is_decided: asyncio.Event = field(default_factory=asyncio.Event)
    scopes: frozenset[KeyScope] = frozenset()
    by: str = ""


class Pairings:
    """Keeps clients that have shown a code: each is decided once, and expires.

    In memory only: a restart ends them, and their codes with them.

    Args:
        now: Seconds since 1970.
        clock: Seconds on a clock that does not go backwards.
    """

    def __init__(
        self,
        events: EventBus,
        record: Record,
        keys: ClientKeys,
        *,
        wait_s: float = APPROVAL_SECONDS,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._events = events
        self._record = record
        self._keys = keys
        self._wait_s = wait_s
        self._now = now
        self._codes = OneTimeCodes(clock, short_code)
        self._waiting: dict[str, _Waiting] = {}

    @property
    def waiting(self) -> list[Pairing]:
        """Pairings that are not decided yet, oldest first."""
        self._drop_expired()
        return [entry.pairing for entry in self._waiting.values() if not entry.is_decided.is_set()]

    def create_code(self) -> str:
        """Create a short code with which one client can request pairing, once, within ten minutes. Requires the right
        to pair."""
        return self._codes.create()

    def request_pairing(self, code: str, request: PairingRequest) -> tuple[Pairing, str]:
        """Request a decision on a client; return the pairing, and the ticket with which the client gets its key.

        Raises:
            ToolError: `invalid_code`, `invalid_name`, `approver_exists`, `too_many_approvers`, `too_many_waiting`. The
                code stays valid after all but the first.
        """
        shown = as_typed(code)
        if not self._codes.is_valid(shown):
            message = "this code is not valid (any more); make a new one in the approval view"
            raise ToolError("invalid_code", message)
        self._keys.check_new_client(request.name)
        self._drop_expired()
        if len(self._waiting) >= PAIRINGS_WAITING:
            message = f"{PAIRINGS_WAITING} clients wait to be paired already; let some be decided first"
            raise ToolError("too_many_waiting", message, retryable=True, limit=PAIRINGS_WAITING)
        self._codes.redeem(shown)
        now_ms = self._now_ms()
        pairing = Pairing(f"pairing_{secrets.token_hex(8)}", request, now_ms, now_ms + int(self._wait_s * 1000))
        ticket = TICKET_PREFIX + secrets.token_urlsafe(_TICKET_BYTES)
        self._waiting[pairing.pairing_id] = _Waiting(pairing, ticket)
        data = {"pairingId": pairing.pairing_id, "name": request.name, "expiresAt": pairing.expires_at_ms}
        self._events.publish("pairing.requested", data)
        return pairing, ticket

    def decide_pairing(self, pairing_id: str, scopes: Iterable[KeyScope], by: str) -> None:
        """Let a client have its key, with these scopes; none: it is refused. The second word finds nothing.

        Raises:
            ToolError: `pairing_not_found`: unknown, expired, or decided already.
        """
        self._drop_expired()
        entry = self._waiting.get(pairing_id)
        if entry is None or entry.is_decided.is_set():
            message = f"no client waits as {pairing_id!r}: it was decided, or has expired"
            raise ToolError("pairing_not_found", message, pairing_id=pairing_id)
        entry.scopes = frozenset(scopes)
        entry.by = by
        entry.is_decided.set()
        self._publish_end(entry.pairing, "confirmed" if entry.scopes else "refused", by)

    async def wait_for_key(self, ticket: str, limit_s: float) -> NewKey | None:
        """Wait for the user's decision, and create the key, which is returned only once; None: there is no decision
        yet.

        Raises:
            ToolError: `pairing_refused`; `pairing_not_found`: no such ticket, expired, or used already;
                `approver_exists`, `too_many_approvers`: others were paired meanwhile.
        """
        entry = self._find_by_ticket(ticket)
        try:
            async with asyncio.timeout(limit_s):
                await entry.is_decided.wait()
        except TimeoutError:
            self._find_by_ticket(ticket)  # it may have expired meanwhile
            return None
        # several may have waited with one ticket
        if self._waiting.pop(entry.pairing.pairing_id, None) is None:
            raise _unknown_ticket()
        if not entry.scopes:
            raise ToolError("pairing_refused", "the user refused to pair this client")
        request = entry.pairing.request
        key = await self._keys.create_key(request.name, entry.scopes, kind=request.kind, origin=request.origin)
        self._record.append(_pairing_row("approver_paired", entry.pairing, entry.by, tuple(sorted(entry.scopes))))
        self._events.publish("approvers.changed", {"name": request.name, "outcome": "approver_paired"})
        return NewKey(request.name, key, entry.scopes)

    def refuse_all(self, by: str) -> int:
        """Refuse all waiting clients; return their number."""
        waiting = self.waiting
        for pairing in waiting:
            self.decide_pairing(pairing.pairing_id, (), by)
        return len(waiting)

    def _find_by_ticket(self, ticket: str) -> _Waiting:
        self._drop_expired()
        found = None
        for entry in self._waiting.values():
            # no early exit: the duration must not depend on any ticket
            if secrets.compare_digest(entry.ticket.encode(), ticket.encode("utf-8", "replace")):
                found = entry
        if found is None:
            raise _unknown_ticket()
        return found

    def _drop_expired(self) -> None:
        now_ms = self._now_ms()
        for key in [key for key, entry in self._waiting.items() if entry.pairing.expires_at_ms <= now_ms]:
            entry = self._waiting.pop(key)
            if entry.scopes or not entry.is_decided.is_set():  # one that was confirmed was not fetched
                self._publish_end(entry.pairing, "expired", "")
            entry.is_decided.set()  # later requests with its ticket find nothing

    def _publish_end(self, pairing: Pairing, outcome: str, by: str) -> None:
        log.info("pairing_decided", name=pairing.request.name, outcome=outcome, by=by)
        if outcome != "confirmed":
            self._record.append(_pairing_row(f"pairing_{outcome}", pairing, by))
        self._events.publish("pairing.decided", {"pairingId": pairing.pairing_id, "outcome": outcome, "by": by})

    def _now_ms(self) -> int:
        return int(self._now() * 1000)


def _pairing_row(outcome: str, pairing: Pairing, by: str, scopes: tuple[KeyScope, ...] = ()) -> CallRow:
    request = pairing.request
    row = make_notice_row(outcome, name=request.name, kind=request.kind, origin=request.origin, scopes=scopes)
    return row._replace(principal_kind="client", principal_id=request.name, decided_by=by)


def _unknown_ticket() -> ToolError:
    message = "no client waits with this ticket: it has expired, or its key was fetched; begin again with a new code"
    return ToolError("pairing_not_found", message)
