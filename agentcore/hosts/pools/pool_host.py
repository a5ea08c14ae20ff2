"""One host of a pool, as its server serves it: a machine that the pool's kind finds and connects."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from agentcore.api import ToolResult
from agentcore.api.host_kinds import Carrier, HostAnnouncement, HostDriver, HostGroupConfig, HostSource, MakePeer
from agentcore.api.host_kinds.frames import LinkError
from agentcore.core.approvals.definition_review import Offered
from agentcore.core.calls.call_context import CallContext
from agentcore.core.declarations.hosted_names import hosted_name, name_in_pool
from agentcore.core.declarations.module_storage import StoredBytes
from agentcore.core.modules.host_protocols import HostReport
from agentcore.errors import ToolError
from agentcore.hosts.machines.machine import Machine
from agentcore.hosts.machines.machine_calls import host_away
from agentcore.hosts.machines.machine_services import MachineServices
from agentcore.hosts.machines.pairing import definitions_in, instructions_in
from agentcore.hosts.pools.pool_records import PoolRecords
from agentcore.hosts.pools.storage_requests import StorageRequests
from agentcore.hosts.server_side.host_link import HostLink
from agentcore.hosts.server_side.host_messages import OfModule
from agentcore.hosts.server_side.linked_module import LinkedModule
from agentcore.hosts.server_side.replies import Hello


class ItsPool(Protocol):
    """The pool of a host, as far as the host uses it."""

    name: str
    config: HostGroupConfig
    source: HostSource

    def hosts_changed(self) -> None:
        """Handle the arrival or departure of one of its hosts."""
        ...


class PoolHost(Machine):
    """One host of a pool; implements `GroupHost`.

    Args:
        member: Its name in the pool.
        driver: How its kind reaches it.
    """

    def __init__(
        self, pool: ItsPool, member: str, driver: HostDriver, records: PoolRecords, services: MachineServices
    ) -> None:
        known = records.add_host(name_in_pool(pool.name, member))
        # the kind distinguishes the machines
        super().__init__(known, {"": pool.config.keep_minutes}, services, records, known_since_ms=0)
        self._pool = pool
        self._member = member
        self._driver = driver
        self._records = records
        self._announced: HostAnnouncement | None = None
        self.calls.lost = partial(_interrupted_error, self.name)
        self.calls.leases = pool.source.leases.held

    # -- its connection ----------------------------------------------------------------------------------------

    @property
    def free_capacity(self) -> int:
        """Its free capacity, as announced; negative if it accepts no new work."""
        announced = self._announced
        return -1 if announced is None or announced.is_drained else announced.capacity - announced.used

    @property
    def is_lost(self) -> bool:
        return not self._instance

    def is_silent(self) -> bool:
        """See `Machine.is_silent`: it may be dead, which is not certain yet."""
        return self._driver.is_silent()

    def handle_announcement(self, announced: HostAnnouncement) -> None:
        self._announced = announced
        self._records.set_drained(self.name, is_drained=announced.is_drained)

    def set_away(self, reason: str) -> None:
        self._standing.set_state("away", reason)

    async def serve_connection(self, carrying: Callable[[MakePeer], Carrier], address: str) -> None:
        try:
            await super().serve_connection(carrying, address)
        finally:
            self._pool.hosts_changed()

    def mark_dead(self, reason: str) -> None:
        if self._link is not None:
            self._link.peer.abort(reason)
        self._driver.abort(reason)
        if not self.is_lost:
            self._standing.set_state("away", reason)
            self._mark_lost(reason)
        self._pool.hosts_changed()

    # -- what it brings ------------------------------------------------------------------------------------------

    def _configure_link(self, link: HostLink) -> None:
        """Store data of its modules through this server, because a host has no access to the pool's storage."""

        def store_of(told: OfModule) -> StoredBytes:
            return self._pool.source.open_storage(link.module_named(told).rpartition("/")[2])

        link.serve_storage(StorageRequests(link.peer, store_of).request_handlers())

    def _check_offered_modules(self, told: Hello) -> None:
        others = {each.name for each in told.members} - set(self._pool.config.modules)
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
        self._pool.hosts_changed()
        await super()._monitor_link(link)

    def mark_unavailable(self) -> None:
        """See `Machine.mark_unavailable`: in a pool, other hosts replace it."""
        self._services.modules.know_host(self.name, None, None)

    def describe_host(self) -> HostReport:
        announced = self._announced
        return replace(
            super().describe_host(),
            kind="member",
            capacity=None if announced is None else announced.capacity,
            used=announced.used if announced is not None and self.is_connected else None,
            labels=() if announced is None else announced.labels,
            may_use_chats=self._services.registry.may_use_chats(self.name),
        )

    # -- calls -------------------------------------------------------------------------------------------------

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """See `MachineCalls.call_tool`; a call on a resource first acquires its lease."""
        if (resource := context.resource) is not None:
            left_s = max(context.deadline - self._loop.time(), 0) if context.deadline else 0
            await self._pool.source.leases.acquire_lease(resource.resource_id, self._member, left_s)
        if self.is_lost:
            raise host_away(self.name)
        return await super().call_tool(module, context, tool, arguments)

    # -- actions of the user ---------------------------------------------------------------------------------------

    async def set_drained(self, *, is_on: bool) -> None:
        """Drain it for all servers, or accept new work again; waits until the host confirms it.

        Raises:
            ToolError: `host_away`.
        """
        try:
            await self._driver.set_drained(is_on=is_on)
        except (ConnectionError, TimeoutError):
            raise host_away(self.name) from None
        self._update_drain_state()
        if self.is_connected and not is_on:
            self._standing.set_state("running")

    async def disconnect(self) -> None:
        """Raise `host_in_pool`: the kind decides who is in a pool."""
        raise host_in_pool(self.name)

    async def allow_reconnect(self) -> None:
        raise host_in_pool(self.name)

    async def close(self) -> None:
        """End what is done for it."""
        await super().close()
        await self._driver.close()
        self._records.delete_host(self.name)


def host_in_pool(host: str) -> ToolError:
    """Return the error for pairing, disconnecting or removing a host whose access its pool controls."""
    message = (
        f"host {host!r} is of a pool: who is in it is decided there, by its keys, and agentcore hosts drain keeps new "
        "work away"
    )
    return ToolError("host_in_pool", message, host=host)


def _interrupted_error(host: str, module: str, reason: str) -> ToolError:
    message = f"{reason}; whether the call had an effect is not known: look before you repeat it"
    return ToolError("interrupted", message, host=host, module=module)
