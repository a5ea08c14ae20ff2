"""Foreign machines that request pairing: each shows a code, which the user enters in the approval view."""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Protocol

import structlog

from agentcore.api import ToolDefinition
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import HOSTS_WAITING, HOSTS_WAITING_PER_ADDRESS
from agentcore.store.credentials.one_time_codes import CODE_SECONDS, OneTimeCodes, as_typed, short_code
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.record import Record

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OfferedModule:
    """A module that a host would provide. All texts come from the host.

    Args:
        instructions: What models would be sent about it.
        problems: Why definitions of its tools are left out, one sentence each.
    """

    name: str
    title: str
    description: str
    tools: tuple[ToolDefinition, ...]
    instructions: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostOffer:
    """A host that requests pairing, and what it provides. Everything but the address comes from the host.

    Args:
        address: Where it dialled in from.
        workspace: The folders that its tools may touch.
        replaces: True if a host of its name is paired already, which it would replace.
    """

    name: str
    address: str
    platform: str
    version: str
    workspace: tuple[str, ...]
    modules: tuple[OfferedModule, ...]
    replaces: bool = False


FetchOffer = Callable[[], Awaitable[HostOffer]]
"""Requests from a host what it provides.

Raises:
    ToolError: `pairing_not_found`: it has disconnected, does not answer, or sent invalid data.
"""


@dataclass(slots=True, eq=False)
class HostPairing:
    """One host that waits for the user.

    Args:
        name: The name that it uses.
        address: Where it dialled in from.
        fetch: Requests what it provides.
        code: The code that it shows.
        expires_at_ms: Milliseconds since 1970.
        offer: What it provides; None: the user has not entered its code yet.
        decided: Its new key; None: it was refused, or has waited for too long.
    """

    pairing_id: str
    name: str
    address: str
    fetch: FetchOffer = field(repr=False)
    code: str = field(repr=False)
    expires_at_ms: int = 0
    offer: HostOffer | None = None
    fetching: asyncio.Lock = field(default_factory=asyncio.Lock)
    decided: "asyncio.Future[str | None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class HostAuthoriser(Protocol):
    """Pairs a host; returns its key."""

    def __call__(self, offer: HostOffer, *, may_use_chats: bool = False) -> Awaitable[str]: ...


class HostPairings:
    """Stores hosts that have shown a code, in memory only: a restart ends them, and they dial in again.

    Args:
        now: Seconds since 1970.
        clock: Seconds on a clock that does not go backwards.
    Attributes:
        let_in: Pairs a host; set by the code that serves hosts.
    """

    let_in: HostAuthoriser

    def __init__(
        self,
        record: Record,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._record = record
        self._now = now
        self._codes = OneTimeCodes(clock, short_code)
        self._waiting: dict[str, HostPairing] = {}
        self._connections: Counter[str] = Counter()

    @contextmanager
    def count_connection(self, source: str) -> Iterator[None]:
        """Count a connection of a host that is not paired, from before its first message is read until its end.

        Args:
            source: Its address, for the limit of each address.
        Raises:
            ToolError: `too_many_waiting`.
        """
        if self._connections.total() >= HOSTS_WAITING or self._connections[source] >= HOSTS_WAITING_PER_ADDRESS:
            message = "too many hosts are waiting to be paired; try again in some minutes"
            raise ToolError("too_many_waiting", message, retryable=True, limit=HOSTS_WAITING)
        self._connections[source] += 1
        try:
            yield
        finally:
            self._connections[source] -= 1
            if not self._connections[source]:
                del self._connections[source]

    def add_pairing(self, name: str, address: str, fetch: FetchOffer) -> HostPairing:
        """Add a host that waits for the user. What it provides is read once the user has entered its code."""
        pairing_id = f"host_{secrets.token_hex(8)}"
        until_ms = int((self._now() + CODE_SECONDS) * 1000)
        pairing = HostPairing(pairing_id, name, address, fetch, self._codes.create(), until_ms)
        self._waiting[pairing_id] = pairing
        log.info("host_waits_for_pairing", host=name, address=address)
        return pairing

    def withdraw_pairing(self, pairing: HostPairing) -> None:
        """Remove a host that has disconnected, or whose code has expired."""
        if self._waiting.pop(pairing.pairing_id, None) is not None:
            self._codes.redeem(pairing.code)
        if not pairing.decided.done():
            pairing.decided.set_result(None)

    async def find_by_code(self, code: str) -> tuple[HostPairing, HostOffer]:
        """Return the host that shows this code, and what it provides, for the user to decide on. Requires the right to
        pair.

        Raises:
            ToolError: `invalid_code`: unknown, wrong, or too old; `pairing_not_found`: the host did not answer.
        """
        shown = as_typed(code)
        is_valid = self._codes.is_valid(shown)
        pairing = next((each for each in self._waiting.values() if each.code == shown), None) if is_valid else None
        if pairing is None:
            message = "no host shows this code (any more); type the one that `agentcore host` shows there now"
            raise ToolError("invalid_code", message)
        async with pairing.fetching:
            if pairing.offer is None:
                pairing.offer = await pairing.fetch()
        return pairing, pairing.offer

    async def decide_pairing(self, pairing_id: str, by: str, *, accepts: bool, may_use_chats: bool = False) -> None:
        """Pair a host, or refuse it; a second decision finds nothing.

        Args:
            may_use_chats: True if the user allows it to use chats: history, summary, to-do list, models, agents.
        Raises:
            ToolError: `pairing_not_found`: unknown, gone, expired, or decided already; `too_many_hosts`.
        """
        pairing = self._waiting.get(pairing_id)
        offer = None if pairing is None else pairing.offer
        if pairing is None or offer is None or not self._codes.redeem(pairing.code):
            message = f"no host waits as {pairing_id!r}: it was decided, has gone, or its code has expired"
            raise ToolError("pairing_not_found", message, pairing_id=pairing_id)
        del self._waiting[pairing_id]
        key: str | None = None
        try:
            key = await self.let_in(offer, may_use_chats=may_use_chats) if accepts else None
        finally:
            if not pairing.decided.done():
                pairing.decided.set_result(key)
        outcome = "host_paired" if accepts else "host_refused"
        modules = [each.name for each in offer.modules]
        chats = {"may_use_chats": True} if accepts and may_use_chats else {}
        row = make_notice_row(outcome, name=offer.name, address=offer.address, modules=modules, **chats)
        self._record.append(row._replace(principal_kind="host", principal_id=offer.name, decided_by=by))
        log.warning(outcome, host=offer.name, address=offer.address, by=by)

    def refuse_all(self) -> int:
        """Refuse all waiting hosts; return their number."""
        waiting = list(self._waiting.values())
        for pairing in waiting:
            self.withdraw_pairing(pairing)
        return len(waiting)
