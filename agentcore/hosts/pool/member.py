"""One host of a pool, as its server sees it: a machine whose links use NATS, and whose death is detected quickly."""

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from agentcore.api import ToolResult
from agentcore.core.approvals.definition_review import Offered
from agentcore.core.calls.context import CallContext
from agentcore.core.declarations.hosted_names import hosted_name, member_name
from agentcore.core.modules.host_protocols import HostReport
from agentcore.errors import ToolError
from agentcore.hosts.machines.calls import host_away
from agentcore.hosts.machines.machine import Machine
from agentcore.hosts.machines.pairing import definitions_in, instructions_in
from agentcore.hosts.machines.services import MachineServices
from agentcore.hosts.pool.connection import NatsConnection
from agentcore.hosts.pool.leases import Leases
from agentcore.hosts.pool.nats_link import NatsLink
from agentcore.hosts.pool.pool_messages import Announcement, DrainRequest, OpenLink
from agentcore.hosts.pool.storage_requests import StorageRequests
from agentcore.hosts.pool.stored_objects import StoredObjects
from agentcore.hosts.pool.subjects import Subjects
from agentcore.hosts.server_end.answers import Hello
from agentcore.hosts.server_end.link import HostLink
from agentcore.hosts.server_end.linked_module import LinkedModule
from agentcore.hosts.server_end.messages import OfModule
from agentcore.hosts.wire.frames import PROTOCOL, LinkError
from agentcore.store.credentials.host_keys import KnownHost

_DRAIN_SECONDS = 5.0
_SILENT_SECONDS = 1.2
_LINK_SECONDS = 2.0
"""How soon after it was opened a link must occur in the host's announcements."""


class ItsPool(Protocol):
    """The pool of a host, as far as the host uses it."""

    name: str
    server: str
    modules: tuple[str, ...]
    nats: NatsConnection
    subjects: Subjects
    leases: Leases

    def member_changed(self) -> None:
        """Handle the arrival or departure of one of its hosts."""
        ...


class MemberRecords:
    """Records of hosts of a pool, in memory only, because each announces itself again. See `KnownHosts`."""

    def __init__(self) -> None:
        self._known: dict[str, KnownHost] = {}

    def add_host(self, name: str) -> KnownHost:
        """Add a host."""
        return self._known.setdefault(name, KnownHost(name, b"", int(time.time() * 1000)))

    def find_host(self, name: str) -> KnownHost | None:
        return self._known.get(name)

    async def update_host(self, name: str, **changed: object) -> None:
        if name in self._known:
            self._known[name] = replace(self._known[name], **changed)  # type: ignore[arg-type]  # its own fields

    async def mark_seen(self, name: str, **changed: object) -> None:
        await self.update_host(name, last_seen_ms=int(time.time() * 1000), **changed)

    def set_drained(self, name: str, *, is_drained: bool) -> None:
        """Set whether a host accepts new work, as it announces."""
        if (known := self._known.get(name)) is not None and known.is_drained != is_drained:
            self._known[name] = replace(known, is_drained=is_drained)

    def delete_host(self, name: str) -> None:
        """Know it no more."""
        self._known.pop(name, None)


class PoolMember(Machine):
    """One host of a pool.

    Args:
        member: Its name in the pool.
        keep_minutes: How long it keeps resources while its server is silent.
    """

    def __init__(
        self, pool: ItsPool, member: str, records: MemberRecords, keep_minutes: float, services: MachineServices
    ) -> None:
        known = records.add_host(member_name(pool.name, member))
        # NATS distinguishes the machines
        super().__init__(known, {"": keep_minutes}, services, records, known_since_ms=0)
        self._pool = pool
        self._member = member
        self._records = records
        self.calls.lost = partial(_interrupted_error, self.name)
        self.calls.leases = pool.leases.held
        self.announced: Announcement | None = None
        self._seen_at = self._loop.time()
        self._opened_at = 0.0
        self._has_said = asyncio.Event()
        self._link_id = ""
        self._carrier: NatsLink | None = None
        self._serving: asyncio.Task[None] | None = None

    # -- signs of life -----------------------------------------------------------------------------------------

    @property
    def silent_s(self) -> float:
        """How long it has been silent."""
        return self._loop.time() - self._seen_at

    @property
    def free_capacity(self) -> int:
        """Its free capacity, as announced; negative if it accepts no new work."""
        said = self.announced
        return -1 if said is None or said.is_drained else said.capacity - said.used

    def handle_announcement(self, said: Announcement) -> None:
        """Handle an announcement of the host."""
        self._seen_at = self._loop.time()
        former = self.announced
        self.announced = said
        self._records.set_drained(self.name, is_drained=said.is_drained)
        self._has_said.set()
        if said.protocol != PROTOCOL:
            self._standing.set_state("away", f"it speaks {said.protocol!r}, and this server {PROTOCOL!r}")
            return
        has_link = said.links.get(self._pool.server) == self._link_id
        is_old = self._loop.time() - self._opened_at > _LINK_SECONDS
        if self._carrier is not None and (
            (former is not None and former.instance != said.instance) or (is_old and not has_link)
        ):
            self._carrier.abort("the host does not know of the link any more")
        elif self._serving is None:
            # in no TaskGroup: the end of the link ends it, or `close`
            self._serving = self._loop.create_task(self._serve_link(), name=f"host:{self.name}:link")
            self._serving.add_done_callback(lambda _: self._handle_serving_end())

    def is_silent(self) -> bool:
        """See `Machine.is_silent`: it may be dead, which is not certain yet."""
        return self.silent_s > _SILENT_SECONDS

    def mark_dead(self, reason: str) -> None:
        """Treat the host as dead after too long a silence: its resources are lost, whatever happens to it."""
        if self._link is not None:
            self._link.peer.abort(reason)
        if self._carrier is not None:
            self._carrier.abort(reason)
        if not self.is_lost:
            self._standing.set_state("away", reason)
            self._mark_lost(reason)
        self._pool.member_changed()

    @property
    def is_lost(self) -> bool:
        """True if its resources are treated as lost."""
        return not self._instance

    async def _serve_link(self) -> None:
        """Open a link, and carry it to its end."""
        pool = self._pool
        self._link_id = secrets.token_hex(8)
        self._opened_at = self._loop.time()
        names = self._member, pool.server, self._link_id
        wanted = OpenLink(server=pool.server, link=self._link_id, protocol=PROTOCOL, modules=list(pool.modules))

        async def request_link() -> None:
            await pool.nats.publish(pool.subjects.open_link_subject(self._member), wanted.encode())

        def make_carrier(peer: Callable[..., Any]) -> NatsLink:
            self._carrier = NatsLink(
                pool.nats, pool.subjects.up_subject(*names), pool.subjects.down_subject(*names), request_link, peer
            )
            return self._carrier

        await self.serve_connection(make_carrier, f"NATS ({self._member})")

    def _handle_serving_end(self) -> None:
        self._serving = self._carrier = None
        self._pool.member_changed()

    # -- what it brings ------------------------------------------------------------------------------------------

    def _configure_link(self, link: HostLink) -> None:
        """Store data of its modules in this server, because a host has no access to NATS' storage."""

        def store_of(told: OfModule) -> StoredObjects:
            module = link.module_named(told).rpartition("/")[2]
            return StoredObjects(self._pool.nats, self._pool.subjects, self._pool.server, module)

        link.serve_storage(StorageRequests(link.peer, store_of).request_handlers())

    def _check_offered_modules(self, told: Hello) -> None:
        others = {each.name for each in told.members} - set(self._pool.modules)
        if others:
            raise LinkError(f"it brings {sorted(others)}, which hosts.{self._pool.name}.modules does not list")

    async def _prepare_modules(self, told: Hello) -> None:
        """Accept what the server's own module of a name defines identically; everything else waits for the user's
        review."""
        for each in told.members:
            if (own := self._services.modules.offered_by(each.name)) is not None:
                offered = Offered(await asyncio.to_thread(definitions_in, each), instructions_in(each))
                name = hosted_name(self._pool.name, each.name)
                await self._services.review.accept_alike(name, offered, own)

    async def _remove_module(self, name: str, reason: str) -> None:
        await super()._remove_module(name, f"{reason}; what was open there is lost: name none, for a new one")

    async def _monitor_link(self, link: HostLink) -> None:
        self._pool.member_changed()
        await super()._monitor_link(link)

    def mark_unavailable(self) -> None:
        """See `Machine.mark_unavailable`: in a pool, other hosts replace it."""
        self._services.modules.know_host(self.name, None, None)

    def describe_host(self) -> HostReport:
        said = self.announced
        return replace(
            super().describe_host(),
            kind="member",
            capacity=None if said is None else said.capacity,
            used=said.used if said is not None and self.is_connected else None,
            labels=() if said is None else tuple(said.labels),
            may_use_chats=self._services.registry.may_use_chats(self.name),
        )

    # -- calls -------------------------------------------------------------------------------------------------

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """See `MachineCalls.call_tool`; a call on a resource first acquires its lease."""
        if (resource := context.resource) is not None:
            left_s = max(context.deadline - self._loop.time(), 0) if context.deadline else 0
            await self._pool.leases.acquire_lease(resource.resource_id, self._member, left_s)
        if self.is_lost:
            raise host_away(self.name)
        return await super().call_tool(module, context, tool, arguments)

    # -- actions of the user ---------------------------------------------------------------------------------------

    async def set_drained(self, *, is_on: bool) -> None:
        """Drain it for all servers, or accept new work again; waits until the host confirms it.

        Raises:
            ToolError: `host_away`.
        """
        wanted = DrainRequest(on=is_on).encode()
        try:
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._pool.nats.publish(self._pool.subjects.drain_subject(self._member), wanted)
                while self.is_drained is not is_on:
                    self._has_said.clear()
                    await self._has_said.wait()
        except (ConnectionError, TimeoutError):
            raise host_away(self.name) from None
        self._update_drain_state()
        if self.is_connected and not is_on:
            self._standing.set_state("running")

    async def disconnect(self) -> None:
        """Raise `host_in_pool`: NATS decides who is in a pool."""
        raise host_in_pool(self.name)

    async def allow_reconnect(self) -> None:
        raise host_in_pool(self.name)

    async def close(self) -> None:
        """End what is done for it."""
        await super().close()
        if self._serving is not None:
            await asyncio.wait({self._serving}, timeout=3)
            if self._serving is not None:
                self._serving.cancel()
        self._records.delete_host(self.name)


def host_in_pool(host: str) -> ToolError:
    """Return the error for pairing, disconnecting or removing a host whose access NATS controls."""
    message = (
        f"host {host!r} is of a pool: its key is NATS's to take away, and agentcore hosts drain keeps new work away"
    )
    return ToolError("host_in_pool", message, host=host)


def _interrupted_error(host: str, module: str, reason: str) -> ToolError:
    message = f"{reason}; whether the call had an effect is not known: look before you repeat it"
    return ToolError("interrupted", message, host=host, module=module)
