"""All hosts of a server: which module runs where, and what becomes of modules whose host has ended."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from agentcore.api.hosts import HostInfo
from agentcore.config.hosts import PoolConfig, RemoteHostConfig
from agentcore.config.loading import AppConfig
from agentcore.core.core import Host
from agentcore.core.declarations.hosted_names import pool_of
from agentcore.core.modules.places import Place, PlaceReport
from agentcore.errors import ToolError
from agentcore.hosts.machines.machine import Machine
from agentcore.hosts.machines.machines import Machines
from agentcore.hosts.places.child import end_outliving
from agentcore.hosts.places.process import ProcessHost
from agentcore.hosts.places.services import PlaceServices
from agentcore.hosts.pool.member import host_in_pool
from agentcore.hosts.pool.pool import Pool

log = structlog.get_logger(__name__)


async def end_all_outliving(state: Path, but: Collection[str] = ()) -> list[str]:
    """Have hosts end that outlive their server, in order; gives the names of those that ran.

    Args:
        state: The state folder of the server.
        but: Hosts that stay.
    """
    found = await asyncio.to_thread(lambda: sorted(path.parent for path in (state / "hosts").glob("*/socket")))
    return [folder.name for folder in found if folder.name not in but and await end_outliving(folder)]


class Hosts:
    """Implements `Places` for what app.json says under `hosts`. Made before the host, which it then serves."""

    def __init__(self, config: AppConfig) -> None:
        self._config = config
        self._places: dict[str, ProcessHost] = {}
        self._of: dict[str, str] = {module: name for name, host in config.hosts.items() for module in host.claimed}
        self._host: Host | None = None
        self._machines: Machines | None = None
        self._pools: dict[str, Pool] = {}

    @property
    def machines(self) -> "Machines":
        """The hosts on other machines."""
        assert self._machines is not None  # noqa: S101 - it was attached
        return self._machines

    def attach(self, host: Host) -> None:
        """Serve this host; before its modules start."""
        self._host = host
        services = PlaceServices(
            config=self._config,
            state=host.state,
            resources=host.resources,
            events=host.events,
            roots=host.workspace.roots,
            protected=host.protected,
            own_origins=host.own_origins,
            on_blocked=host.count_blocked,
            on_control_files=host.report_control_files,
        )
        host.own_origins.on_change.append(self._tell_origins)
        remote: dict[str, RemoteHostConfig] = {}
        for name, config in self._config.hosts.items():
            if isinstance(config, RemoteHostConfig):
                remote[name] = config
            elif isinstance(config, PoolConfig):
                self._pools[name] = Pool(name, config, self._config.folder, host)
                host.registry.claimed.update(dict.fromkeys(config.modules, name))
                host.registry.allow_chats(name, is_on=config.chats)
            else:
                self._places[name] = ProcessHost(name, config, services, self._lost, self._again)
        self._machines = Machines(host, remote, [*self._places, *self._pools])

    def of(self, name: str) -> Place | None:
        """See `Places.of`."""
        place = self._of.get(name)
        return None if place is None else self._places.get(place)

    def all(self) -> Sequence[Place]:
        """See `Places.all`."""
        return tuple(self._places.values())

    def reports(self) -> Sequence[PlaceReport]:
        """See `Places.reports`."""
        own = [place.report() for place in self._places.values()]
        pools = [report for pool in self._pools.values() for report in pool.reports()]
        return (*own, *self.machines.waiting(), *(machine.report() for machine in self.machines.all()), *pools)

    def machines_known(self) -> Sequence[HostInfo]:
        """See `Places.machines_known`."""
        members = [member for pool in self._pools.values() for member in pool.members()]
        return [machine.info() for machine in (*self.machines.all(), *members)]

    def machine(self, name: str) -> Machine:
        """The host of a name on another machine, or of a pool.

        Raises:
            ToolError: `host_not_found`; so for a pool, too: it is its hosts that have machines.
        """
        pool = self._pools.get(pool_of(name))
        if pool is None:
            return self.machines.named(name)
        if (member := pool.member(name)) is None:
            there = [each.name for each in pool.members()]
            said = f"{name!r} is a pool" if name == pool.name else f"nothing was heard of host {name!r}"
            raise ToolError("host_not_found", f"{said}; the hosts of pool {pool.name!r} are {there}", hosts=there)
        return member

    async def forget(self, name: str) -> None:
        """End all that a host on another machine may do.

        Raises:
            ToolError: `host_not_found`; `host_in_pool`: NATS lets it in.
        """
        if pool_of(name) in self._pools:
            raise host_in_pool(name)
        await self.machines.forget(name)

    async def member_for(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        """See `Places.member_for`."""
        return await self._pools[pool].member_for(session_id, needs_room=needs_room)

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """See `Places.ask_machine`."""
        return await self.machine(host).ask(module, request, data)

    async def rest(self, name: str) -> None:
        """A module has ended: a host without any ends, too."""
        place = self._of.get(name)
        if place is not None and (found := self._places.get(place)) is not None:
            await found.rest()

    def may_go_on(self, module: str) -> bool:
        """See `PlacesOfHost.may_go_on`."""
        if "/" in module:  # of another machine, whose program goes on
            return True
        place = self._config.hosts.get(self._of.get(module, ""))
        return place is not None and place.survives_restart

    @property
    def may_come_back(self) -> bool:
        """See `PlacesOfHost.may_come_back`."""
        is_away = any(not machine.is_there for machine in self.machines.all())
        return is_away or any(pool.may_come_back for pool in self._pools.values())

    async def take_up_calls(self) -> None:
        """See `PlacesOfHost.take_up_calls`."""
        assert self._host is not None  # noqa: S101 - it was attached
        for place in self._places.values():
            place.take_up_calls(self._host.calls.carried_on)
            await place.end_unclaimed()
        await end_all_outliving(
            self._host.state.path, but=[name for name, place in self._places.items() if place.outlives]
        )
        for pool in self._pools.values():
            pool.start()
        self.machines.start()

    def let_go(self) -> None:
        """See `PlacesOfHost.let_go`."""
        for place in self._places.values():
            place.let_go()
        self.machines.let_go()
        for pool in self._pools.values():
            pool.let_go()

    async def end_outliving(self, reason: str) -> None:
        """See `PlacesOfHost.end_outliving`."""
        for place in self._places.values():
            await place.end_outliving(reason)

    async def close(self) -> None:
        """End them all, side by side: one that hangs takes no time of the others."""
        async with asyncio.TaskGroup() as group:
            for name, place in self._places.items():
                group.create_task(place.close(), name=f"host:{name}:close")
            group.create_task(self.machines.close(), name="hosts:close")
            for name, pool in self._pools.items():
                group.create_task(pool.close(), name=f"pool:{name}:close")

    def _tell_origins(self) -> None:
        for place in self._places.values():
            place.tell_origins()
        self.machines.tell_origins()
        for pool in self._pools.values():
            pool.tell_origins()

    async def _lost(self, names: Sequence[str], reason: str) -> None:
        assert self._host is not None  # noqa: S101 - it was attached
        await self._host.modules.lose(names, reason)

    async def _again(self, names: Sequence[str]) -> None:
        assert self._host is not None  # noqa: S101 - it was attached
        await self._host.modules.start_again(names)
