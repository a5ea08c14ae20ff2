"""All hosts of a server: which module runs where, and what happens to modules whose host has ended."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api.host_info import HostInfo
from agentcore.config.host_config import ProcessHostConfig, RemoteHostConfig, modules_only_in
from agentcore.config.host_kinds import load_kind
from agentcore.config.loading import AppConfig
from agentcore.core.core import Core
from agentcore.core.declarations.hosted_names import pool_of
from agentcore.core.modules.host_protocols import HostReport, ModuleHost
from agentcore.errors import ToolError
from agentcore.hosts.machines.machine_registry import Machines
from agentcore.hosts.machines.machine_services import MachineServices

# What hosts need is imported with the first one: most servers have none.
if TYPE_CHECKING:
    from agentcore.hosts.machines.machine import Machine
    from agentcore.hosts.pools.pool import Pool
    from agentcore.hosts.server_side.process_host import ProcessHost

log = structlog.get_logger(__name__)


async def stop_all_surviving_hosts(state: Path, but: Collection[str] = ()) -> list[str]:
    """Stop hosts that survive their server; return the names of those that ran.

    Args:
        state: The state folder of the server.
        but: Hosts that keep running.
    """
    found = await asyncio.to_thread(lambda: sorted(path.parent for path in (state / "hosts").glob("*/socket")))
    if not found:
        return []
    from agentcore.hosts.server_side.child_process import stop_surviving_process  # noqa: PLC0415 - as above

    return [folder.name for folder in found if folder.name not in but and await stop_surviving_process(folder)]


class Hosts:
    """Implements `ManagedModuleHosts` for `hosts` of app.json. Created before the core that uses it."""

    def __init__(self, config: AppConfig) -> None:
        self._config = config
        self._places: dict[str, ProcessHost] = {}
        self._of: dict[str, str] = {}
        for name, host in config.hosts.items():
            self._of.update(dict.fromkeys(modules_only_in(host), name))
        self._core: Core | None = None
        self._machines: Machines | None = None
        self._pools: dict[str, Pool] = {}

    @property
    def machines(self) -> "Machines":
        """The foreign machines."""
        assert self._machines is not None  # noqa: S101 - it was attached
        return self._machines

    def attach_core(self, core: Core) -> None:
        """Use this core; called before its modules start."""
        self._core = core
        core.own_origins.on_change.append(self._send_origins)
        remote = {name: host for name, host in self._config.hosts.items() if isinstance(host, RemoteHostConfig)}
        services = MachineServices(
            modules=core.modules,
            registry=core.registry,
            resources=core.resources,
            events=core.events,
            record=core.store.record,
            carried_on=core.calls.carried_on,
            review=core.definition_review,
            own_origins=core.own_origins,
            on_blocked=core.count_blocked,
            on_control_files=core.report_control_files,
        )
        if len(remote) < len(self._config.hosts):
            self._add_configured_hosts(core, services)
        self._machines = Machines(
            services,
            keys=core.store.host_keys,
            pairings=core.host_pairings,
            policy=core.policy,
            approvals=core.approvals,
            tabs=core.tabs,
            named=remote,
            taken=[*self._places, *self._pools],
        )

    def _add_configured_hosts(self, core: Core, of_machines: MachineServices) -> None:
        from agentcore.hosts.pools.pool import Pool  # noqa: PLC0415 - as above
        from agentcore.hosts.server_side.process_host import ProcessHost  # noqa: PLC0415
        from agentcore.hosts.server_side.process_host_services import ProcessHostServices  # noqa: PLC0415

        services = ProcessHostServices(
            config=self._config,
            state=core.state,
            resources=core.resources,
            events=core.events,
            roots=core.workspace.roots,
            protected=core.protected,
            own_origins=core.own_origins,
            on_blocked=core.count_blocked,
            on_control_files=core.report_control_files,
        )
        for name, config in self._config.hosts.items():
            if isinstance(config, RemoteHostConfig):
                continue
            if isinstance(config, ProcessHostConfig):
                self._places[name] = ProcessHost(
                    name, config, services, self._handle_lost_modules, self._restart_modules
                )
            else:
                kind = load_kind(config.kind)
                self._pools[name] = Pool(
                    name,
                    config,
                    kind,
                    folder=self._config.folder,
                    state=core.state.path,
                    services=of_machines,
                )
                core.registry.claimed.update(dict.fromkeys(config.modules, name))
                core.registry.allow_chats(name, is_on=config.chats)

    def find_module_host(self, name: str) -> ModuleHost | None:
        place = self._of.get(name)
        return None if place is None else self._places.get(place)

    def list_hosts(self) -> Sequence[ModuleHost]:
        return tuple(self._places.values())

    def describe_hosts(self) -> Sequence[HostReport]:
        own = [place.describe_host() for place in self._places.values()]
        pools = [report for pool in self._pools.values() for report in pool.describe_hosts()]
        return (
            *own,
            *self.machines.describe_unpaired_hosts(),
            *(machine.describe_host() for machine in self.machines.list_machines()),
            *pools,
        )

    def machines_known(self) -> Sequence[HostInfo]:
        members = [member for pool in self._pools.values() for member in pool.list_hosts()]
        return [machine.build_host_info() for machine in (*self.machines.list_machines(), *members)]

    def require_machine(self, name: str) -> "Machine":
        """Return the foreign machine of a name, or of a pool.

        Raises:
            ToolError: `host_not_found`; also for a pool itself, because only its hosts are machines.
        """
        pool = self._pools.get(pool_of(name))
        if pool is None:
            return self.machines.require_machine(name)
        if (member := pool.find_host(name)) is None:
            there = [each.name for each in pool.list_hosts()]
            message = f"{name!r} is a pool" if name == pool.name else f"nothing was heard of host {name!r}"
            raise ToolError("host_not_found", f"{message}; the hosts of pool {pool.name!r} are {there}", hosts=there)
        return member

    async def unpair_host(self, name: str) -> None:
        """Revoke all permissions of a foreign machine.

        Raises:
            ToolError: `host_not_found`; `host_in_pool`: its pool controls its access.
        """
        if pool_of(name) in self._pools:
            from agentcore.hosts.pools.pool_host import host_in_pool  # noqa: PLC0415 - as above

            raise host_in_pool(name)
        await self.machines.unpair_host(name)

    async def find_pool_host(self, pool: str, session_id: str, *, needs_room: bool) -> str:
        return await self._pools[pool].find_pool_host(session_id, needs_room=needs_room)

    async def ask_machine(
        self, host: str, module: str, request: Mapping[str, Any], data: bytes | None
    ) -> tuple[dict[str, Any], bytes | None]:
        return await self.require_machine(host).ask_module(module, request, data)

    async def release_module_host(self, name: str) -> None:
        """Stop the host of an ended module if no other module runs in it."""
        place = self._of.get(name)
        if place is not None and (found := self._places.get(place)) is not None:
            await found.stop_if_idle()

    def may_survive_server(self, module: str) -> bool:
        if "/" in module:  # of a foreign machine, whose program keeps running
            return True
        place = self._config.hosts.get(self._of.get(module, ""))
        return isinstance(place, ProcessHostConfig) and place.survives_restart

    @property
    def may_come_back(self) -> bool:
        is_away = any(not machine.is_connected for machine in self.machines.list_machines())
        return is_away or any(pool.may_come_back for pool in self._pools.values())

    async def resume_calls(self) -> None:
        assert self._core is not None  # noqa: S101 - it was attached
        for place in self._places.values():
            place.resume_calls(self._core.calls.carried_on)
            await place.stop_unclaimed_modules()
        await stop_all_surviving_hosts(
            self._core.state.path, but=[name for name, place in self._places.items() if place.survives_server]
        )
        for pool in self._pools.values():
            pool.start()
        self.machines.start()

    def detach_surviving_hosts(self) -> None:
        for place in self._places.values():
            place.detach()
        self.machines.detach_all()
        for pool in self._pools.values():
            pool.detach_all()

    async def stop_surviving_hosts(self, reason: str) -> None:
        for place in self._places.values():
            await place.stop_surviving_process(reason)

    async def close(self) -> None:
        """Stop them all concurrently, so that one that hangs does not delay the others."""
        async with asyncio.TaskGroup() as group:
            for name, place in self._places.items():
                group.create_task(place.close(), name=f"host:{name}:close")
            group.create_task(self.machines.close(), name="hosts:close")
            for name, pool in self._pools.items():
                group.create_task(pool.close(), name=f"pool:{name}:close")

    def _send_origins(self) -> None:
        for place in self._places.values():
            place.send_origins()
        self.machines.send_origins()
        for pool in self._pools.values():
            pool.send_origins()

    async def _handle_lost_modules(self, names: Sequence[str], reason: str) -> None:
        assert self._core is not None  # noqa: S101 - it was attached
        await self._core.modules.release_lost_modules(names, reason)

    async def _restart_modules(self, names: Sequence[str]) -> None:
        assert self._core is not None  # noqa: S101 - it was attached
        await self._core.modules.start_again(names)
