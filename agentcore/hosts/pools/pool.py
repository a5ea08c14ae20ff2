"""A pool of hosts, as one of its servers sees it: its hosts, and where new work goes."""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Sequence
from pathlib import Path

import structlog

from agentcore.api import Background, Resource
from agentcore.api.host_kinds import HostDriver, HostGroupConfig, HostKind, HostKindError
from agentcore.core.declarations.hosted_names import host_in, is_pooled_host, name_in_pool, pool_of
from agentcore.core.events import Event
from agentcore.core.modules.host_protocols import HostReport
from agentcore.core.modules.tool_registry import HostFacts
from agentcore.hosts.machines.machine_services import MachineServices
from agentcore.hosts.pools.pool_host import PoolHost
from agentcore.hosts.pools.pool_records import PoolRecords
from agentcore.hosts.server_side.host_status import HostStatus

log = structlog.get_logger(__name__)

_FOUND_SECONDS = 10.0
_SESSIONS = 100_000


def server_id(state: Path) -> str:
    """Return the name of a server in its pools: the same one at every start, so that it finds its resources again."""
    file = state / "pool-server-id"
    with contextlib.suppress(OSError):
        if (found := file.read_text().strip()).isalnum() and len(found) == 16:  # noqa: PLR2004 - as it is made
            return found
    made = secrets.token_hex(8)
    file.write_text(made)
    return made


class Pool:
    """The hosts of an entry of app.json whose kind was added; implements `HostGroup`.

    Args:
        name: Its name in app.json.
        folder: That of app.json.
        state: The state folder of the server.
        services: The parts of the core that serve its modules.
    """

    def __init__(
        self,
        name: str,
        config: HostGroupConfig,
        kind: HostKind,
        *,
        folder: Path,
        state: Path,
        services: MachineServices,
    ) -> None:
        self.name = name
        self.config = config
        self.folder = folder
        self.server = server_id(state)
        self._services = services
        self._standing = HostStatus(name, services.events)
        self._records = PoolRecords()
        self._hosts: dict[str, PoolHost] = {}
        self._of_session: dict[str, str] = {}
        self._placing: dict[str, asyncio.Lock] = {}
        self._background = Background(f"pool:{name}")
        self._running: asyncio.Task[None] | None = None
        self._is_missed: bool | None = None
        self.source = kind.open_group(config, self)
        self._end_listening = services.events.subscribe("resource.stateChanged", self._release_lease)
        self._standing.set_state("away", "it was not reached yet")
        self.hosts_changed()

    # -- what is known -----------------------------------------------------------------------------------------

    def list_hosts(self) -> list[PoolHost]:
        """Return its hosts, by name: `box2` before `box10`."""
        return [self._hosts[name] for name in sorted(self._hosts, key=_as_counted)]

    def find_host(self, host: str) -> PoolHost | None:
        """Return the host of this name, `POOL.HOST`."""
        return self._hosts.get(host.removeprefix(f"{self.name}."))

    def describe_hosts(self) -> Sequence[HostReport]:
        """Return the status of the pool, and of each of its hosts."""
        own = self._standing.build_report(
            kind=self.config.kind,
            modules=self.config.modules,
            address=self.source.address,
            labels=tuple(self.config.labels),
            may_use_chats=self.config.chats,
        )
        return (own, *(host.describe_host() for host in self.list_hosts()))

    @property
    def may_come_back(self) -> bool:
        """True if hosts of it may exist that this server has not discovered yet."""
        return not self.source.is_reachable or not self._hosts

    @property
    def _connected_hosts(self) -> list[PoolHost]:
        return [host for host in self._hosts.values() if host.is_connected]

    def hosts_changed(self) -> None:
        """Handle the arrival or departure of a host: while there is none, its tools wait for one."""
        there = self._connected_hosts
        if self._is_missed is not (not there):
            self._is_missed = not there
            review = self._services.review
            tools = frozenset(
                tool for module in review.modules_of(self.name) for tool in review.list_accepted_tools(module)
            )
            self._services.modules.know_host(self.name, None if there else tools, HostFacts())
        if there:
            self._standing.set_state("running", "" if self.source.is_reachable else self._standing.reason)
        elif self.source.is_reachable:
            self._standing.set_state("away", "no host of it is there")

    # -- what its kind reports ---------------------------------------------------------------------------------

    def add_host(self, name: str, driver: HostDriver) -> PoolHost:
        host = self._hosts[name] = PoolHost(self, name, driver, self._records, self._services)
        self._services.events.publish("hosts.changed", {"host": host.name})
        return host

    def remove_host(self, name: str) -> None:
        host = self._hosts.pop(name)
        self._background.start(host.close())
        self._services.events.publish("hosts.changed", {"host": host.name})

    def set_state(self, reason: str) -> None:
        if reason:
            self._standing.set_state("away", reason)
        else:
            self.hosts_changed()

    def mark_failed(self, reason: str) -> None:
        self._standing.mark_failed(reason)
        log.warning("pool_failed", pool=self.name, reason=reason)

    # -- from its beginning to its end ---------------------------------------------------------------------------

    def start(self) -> None:
        """Start to discover its hosts."""
        # in no TaskGroup: it runs as long as the server; `close` ends it
        self._running = asyncio.get_running_loop().create_task(self._run_source(), name=f"pool:{self.name}")

    async def _run_source(self) -> None:
        try:
            await self.source.run()
        except HostKindError as exc:
            self.mark_failed(f"hosts.{self.name}: {exc}")
        except Exception as exc:  # noqa: BLE001 - the border between the server and a kind; the user reads it
            self.mark_failed(str(exc) or type(exc).__name__)

    def detach_all(self) -> None:
        """Detach from its hosts when the server ends; they keep running."""
        for host in self._hosts.values():
            host.detach()

    async def close(self) -> None:
        """End what is done for it."""
        self._end_listening()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})
        for host in self._hosts.values():
            await host.close()
        await self._background.stop()
        await self.source.close()

    def send_origins(self) -> None:
        """Send its hosts the current addresses of the server."""
        for host in self._hosts.values():
            host.send_origins()

    # -- placement -----------------------------------------------------------------------------------------------

    async def find_pool_host(self, session_id: str, *, needs_room: bool) -> str:
        """Return the host for the calls of a session.

        Args:
            needs_room: True if the call may create a resource; otherwise any host is suitable.
        Raises:
            ToolError: `pool_full`, `host_away`.
        """
        if (known := self._find_chosen_host(session_id) or self._find_host_in_use(session_id)) is not None:
            return known
        if not needs_room and self._connected_hosts:
            return max(self._connected_hosts, key=lambda host: host.free_capacity).name
        async with self._placing.setdefault(session_id, asyncio.Lock()):
            try:
                # resources of a previous start of this server are known once their host is linked
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_FOUND_SECONDS):
                        await self.source.wait_until_found()
                if (held := self._find_host_in_use(session_id)) is not None:
                    return held
                if (chosen := self._find_chosen_host(session_id)) is None:
                    chosen = name_in_pool(self.name, await self.source.find_room(session_id))
                    self._of_session[session_id] = chosen
                    while len(self._of_session) > _SESSIONS:
                        del self._of_session[next(iter(self._of_session))]
                return chosen
            finally:
                self._placing.pop(session_id, None)

    def _find_host_in_use(self, session_id: str) -> str | None:
        """Return the connected host with most of a session's resources in this pool."""
        hosts = [
            host_in(self._services.resources.owner_of(each.resource_id) or "")
            for each in self._list_session_resources(session_id)
        ]
        there = [name for name in hosts if (host := self.find_host(name)) is not None and not host.is_lost]
        return max(there, key=there.count) if there else None

    def _list_session_resources(self, session_id: str) -> list[Resource]:
        found = self._services.resources.list(session_id=session_id)
        return [
            each for each in found if pool_of(self._services.resources.host_of(each.resource_id) or "") == self.name
        ]

    def _find_chosen_host(self, session_id: str) -> str | None:
        """Return the host that was chosen for a session before, as long as it accepts new work."""
        name = self._of_session.get(session_id)
        host = None if name is None else self.find_host(name)
        return None if host is None or not host.is_connected or host.is_drained else name

    # -- what becomes of it --------------------------------------------------------------------------------------

    def _release_lease(self, event: Event) -> None:
        """Release the lease of an ended resource."""
        data = event.data
        if data.get("status") == "closed" and is_pooled_host(str(data.get("host", ""))):
            delete = self.source.leases.release_lease(str(data.get("resourceId")))
            if delete is not None:
                self._background.start(delete())


def _as_counted(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts names in natural order."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]
