"""A pool of hosts, as one of its servers sees it: its members, and where new work goes."""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from agentcore.api import Background, Resource
from agentcore.config.hosts import PoolConfig
from agentcore.core.declarations.hosted_names import host_in, is_member, pool_of
from agentcore.core.events import Event
from agentcore.core.modules.host_protocols import HostReport
from agentcore.core.modules.tool_registry import HostFacts
from agentcore.errors import ToolError
from agentcore.hosts.machines.services import MachineServices
from agentcore.hosts.pool.connection import NatsConnection, NatsServers, PoolAddressError
from agentcore.hosts.pool.leases import Leases
from agentcore.hosts.pool.member import MemberRecords, PoolMember
from agentcore.hosts.pool.pool_messages import (
    Announcement,
    PlacementReply,
    PlacementRequest,
    ServerSign,
    read_pool_message,
)
from agentcore.hosts.pool.subjects import Subjects
from agentcore.hosts.server_end.status import HostStatus
from agentcore.hosts.wire.frames import LinkError

if TYPE_CHECKING:
    from nats.aio.msg import Msg

log = structlog.get_logger(__name__)

SIGN_SECONDS = 0.5
"""How often hosts and servers announce themselves."""

DEAD_SECONDS = 2.5
"""After this time without an announcement, while NATS is reachable, a host counts as dead."""

MEMBERS = 500
_FORGOTTEN_SECONDS = 600.0
_LOOK_SECONDS = 0.25
_HELD_SECONDS = 1.0
_PLACE_SECONDS = 1.0
_PLACE_TRIES = 5
_AGAIN_PLACE_SECONDS = 0.1
_LINKED_SECONDS = 10.0
_HEARD_SECONDS = 2 * SIGN_SECONDS
"""How soon after the start of a server all existing hosts have announced themselves."""
_AGAIN_SECONDS = 2.0
_SESSIONS = 100_000


def server_id(state: Path) -> str:
    """By which name a server is known in pools: the same one at every start, so that it finds again what is its own."""
    file = state / "pool-server-id"
    with contextlib.suppress(OSError):
        if (found := file.read_text().strip()).isalnum() and len(found) == 16:  # noqa: PLR2004 - as it is made
            return found
    made = secrets.token_hex(8)
    file.write_text(made)
    return made


class Pool:
    """The hosts of a pool.

    Args:
        name: Its name in app.json, and on NATS.
        folder: That of app.json.
        state: The state folder.
        services: The parts of the core that serve its modules.
    """

    def __init__(self, name: str, config: PoolConfig, folder: Path, state: Path, services: MachineServices) -> None:
        self.name = name
        self._config = config
        self._services = services
        self.modules = config.modules
        self.server = server_id(state)
        self.subjects = Subjects(name)
        self._servers = NatsServers(config.servers, _resolve_path(folder, config.key), _resolve_path(folder, config.ca))
        self._standing = HostStatus(name, services.events)
        self.nats = NatsConnection(
            self._servers, f"agentcore server {self.server}", self.subjects.inbox_prefix(), self._nats_is
        )
        self.leases = Leases(self.nats, self.subjects, self.server, config.keep_minutes * 60)
        self._records = MemberRecords()
        self._members: dict[str, PoolMember] = {}
        self._of_session: dict[str, str] = {}
        self._placing: dict[str, asyncio.Lock] = {}
        self._found_all = asyncio.Event()
        self._background = Background(f"pool:{name}")
        self._running: asyncio.Task[None] | None = None
        self._is_missed: bool | None = None
        self._end_listening = services.events.subscribe("resource.stateChanged", self._resource_changed)
        self._standing.set_state("away", "it was not reached yet")
        self.member_changed()

    # -- what is known -----------------------------------------------------------------------------------------

    def list_hosts(self) -> list[PoolMember]:
        """Return its hosts, by name: `box2` before `box10`."""
        return [self._members[name] for name in sorted(self._members, key=_as_counted)]

    def find_host(self, host: str) -> PoolMember | None:
        """Return the host of this name, `POOL.HOST`."""
        return self._members.get(host.removeprefix(f"{self.name}."))

    def describe_hosts(self) -> Sequence[HostReport]:
        """Return the status of the pool, and of each of its hosts."""
        own = self._standing.build_report(
            kind="nats",
            modules=self.modules,
            address=", ".join(self._config.servers),
            labels=tuple(self._config.labels),
            may_use_chats=self._config.chats,
        )
        return (own, *(member.describe_host() for member in self.list_hosts()))

    @property
    def may_come_back(self) -> bool:
        """True if hosts of it may exist that this server has not discovered yet."""
        return not self.nats.is_up or not self._members

    @property
    def _connected_hosts(self) -> list[PoolMember]:
        return [member for member in self._members.values() if member.is_connected]

    def member_changed(self) -> None:
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
            self._standing.set_state("running", "" if self.nats.is_up else self._standing.reason)
        elif self.nats.is_up:
            self._standing.set_state("away", "no host of it is there")

    def _nats_is(self, state: str) -> None:
        if state:
            self._standing.set_state("away", state)
        else:
            self.member_changed()

    # -- from its beginning to its end ---------------------------------------------------------------------------

    def start(self) -> None:
        """Start to discover its hosts."""
        # in no TaskGroup: it runs as long as the server; `close` ends it
        self._running = asyncio.get_running_loop().create_task(self._connect_and_watch(), name=f"pool:{self.name}")

    async def _connect_and_watch(self) -> None:
        try:
            self._servers.check_addresses()
            await self.nats.open()
        except PoolAddressError as exc:
            self._standing.mark_failed(f"hosts.{self.name}: {exc}")
            log.warning("pool_failed", pool=self.name, reason=str(exc))
            return
        except asyncio.CancelledError:
            raise
        except Exception as exc:  # noqa: BLE001 - a person reads it: no package, a key that is refused, no JetStream
            self._standing.mark_failed(str(exc))
            log.warning("pool_failed", pool=self.name, reason=str(exc))
            return
        while True:
            try:
                await self.nats.wait_until_up()
                await self.leases.open()
                await self._watch_hosts()
            except asyncio.CancelledError:
                raise
            except Exception as exc:  # noqa: BLE001 - NATS went away, or does not let this server: tried again
                log.warning("pool_not_reached", pool=self.name, reason=str(exc))
                self._standing.set_state("away", f"NATS: {exc}")
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _watch_hosts(self) -> None:
        """Receive announcements, and detect dead hosts, while NATS is reachable."""
        async with contextlib.AsyncExitStack() as held:
            await held.enter_async_context(
                self.nats.subscribe(self.subjects.alive_subject(), self._handle_announcement)
            )
            renewing = asyncio.get_running_loop().create_task(
                self.leases.renew_periodically(), name=f"pool:{self.name}:leases"
            )
            held.callback(renewing.cancel)
            sign = ServerSign(server=self.server).encode()
            due = 0.0
            self.member_changed()
            last = heard_since = asyncio.get_running_loop().time()
            while True:
                now = asyncio.get_running_loop().time()
                if now - last > _HELD_SECONDS:
                    heard_since = now  # this program was delayed itself, and announcements of hosts are still waiting
                last = now
                if self.nats.is_up and now >= due:
                    due = now + SIGN_SECONDS
                    await self.nats.publish(self.subjects.server_subject(self.server), sign)
                if self.nats.is_up and now - max(self.nats.up_since, heard_since) > DEAD_SECONDS:
                    self._check_dead_hosts()
                if not self._found_all.is_set() and self._has_found_all(now - self.nats.up_since):
                    self._found_all.set()
                await asyncio.sleep(_LOOK_SECONDS)

    def _has_found_all(self, up_s: float) -> bool:
        """True if it is linked to all existing hosts, or has waited long enough, and knows their resources.

        Args:
            up_s: How long NATS has been reachable.
        """
        late = [each for each in self._members.values() if not each.is_connected and each.silent_s < DEAD_SECONDS]
        return self.nats.is_up and up_s > _HEARD_SECONDS and (not late or up_s > _LINKED_SECONDS)

    async def _handle_announcement(self, message: "Msg") -> None:
        try:
            said = read_pool_message(Announcement, message.data)
        except LinkError as exc:
            log.warning("announcement_refused", pool=self.name, reason=str(exc))
            return
        if message.subject != self.subjects.alive_subject(said.member) or not set(self._config.labels) <= set(
            said.labels
        ):
            return  # it impersonates another, or is not used here
        member = self._members.get(said.member)
        if member is None:
            if len(self._members) >= MEMBERS:
                return
            keep_minutes = self._config.keep_minutes
            member = PoolMember(self, said.member, self._records, keep_minutes, self._services)
            self._members[said.member] = member
            self._services.events.publish("hosts.changed", {"host": member.name})
        member.handle_announcement(said)

    def _check_dead_hosts(self) -> None:
        for name, member in list(self._members.items()):
            if member.silent_s > DEAD_SECONDS and not member.is_lost:
                log.warning("host_died", host=member.name, silent_s=round(member.silent_s, 1))
                member.mark_dead(f"host {member.name!r} gave no sign of life for {DEAD_SECONDS:g} s")
            elif member.silent_s > _FORGOTTEN_SECONDS:
                del self._members[name]
                self._background.start(member.close())
                self._services.events.publish("hosts.changed", {"host": member.name})

    def detach_all(self) -> None:
        """Detach from its hosts when the server ends; they keep running."""
        for member in self._members.values():
            member.detach()

    async def close(self) -> None:
        """End what is done for it."""
        self._end_listening()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})
        for member in self._members.values():
            await member.close()
        await self._background.stop()
        await self.nats.close()

    def send_origins(self) -> None:
        """Send its hosts the current addresses of the server."""
        for member in self._members.values():
            member.send_origins()

    # -- placement -----------------------------------------------------------------------------------------------

    async def member_for(self, session_id: str, *, needs_room: bool) -> str:
        """Return the host for the calls of a session.

        Args:
            needs_room: True if the call may create a resource; otherwise any host is suitable.
        Raises:
            ToolError: `pool_full`, `host_away`.
        """
        if (known := self._find_chosen_host(session_id) or self._find_host_in_use(session_id)) is not None:
            return known
        if not needs_room and self._connected_hosts:
            return max(self._connected_hosts, key=lambda member: member.free_capacity).name
        async with self._placing.setdefault(session_id, asyncio.Lock()):
            try:
                # resources of a previous start of this server are known once their host is linked
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LINKED_SECONDS):
                        await self._found_all.wait()
                if (held := self._find_host_in_use(session_id)) is not None:
                    return held
                if (chosen := self._find_chosen_host(session_id)) is None:
                    chosen = self._of_session[session_id] = await self._request_placement(session_id)
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
        there = [host for host in hosts if (member := self.find_host(host)) is not None and not member.is_lost]
        return max(there, key=there.count) if there else None

    def _list_session_resources(self, session_id: str) -> list[Resource]:
        found = self._services.resources.list(session_id=session_id)
        return [
            each for each in found if pool_of(self._services.resources.host_of(each.resource_id) or "") == self.name
        ]

    def _find_chosen_host(self, session_id: str) -> str | None:
        """Return the host that was chosen for a session before, as long as it accepts new work."""
        host = self._of_session.get(session_id)
        member = None if host is None else self.find_host(host)
        return None if member is None or not member.is_connected or member.is_drained else host

    async def _request_placement(self, session_id: str) -> str:
        subject = self.subjects.placement_subject(self._config.labels)
        full = 0
        loop = asyncio.get_running_loop()
        until = loop.time() + _LINKED_SECONDS
        while full < _PLACE_TRIES and loop.time() < until:
            wanted = PlacementRequest(server=self.server, question=secrets.token_hex(8), session=session_id[:500])
            answers = partial(self.subjects.up_subject, server=self.server, link=wanted.question)
            try:
                answer = await self.nats.request(subject, wanted.encode(), answers, _PLACE_SECONDS)
            except ConnectionError as exc:
                raise ToolError(
                    "host_away", f"pool {self.name!r} is not reached ({exc}); try again", retryable=True, host=self.name
                ) from None
            if answer is None:
                break
            with contextlib.suppress(LinkError):
                given = read_pool_message(PlacementReply, answer.data)
                # a host can only announce itself, because NATS restricts it to subjects with its own name
                member = self._members.get(self.subjects.speaker(answer.subject))
                if not given.is_full and member is not None and member.is_connected and not member.is_drained:
                    return member.name
                full += given.is_full
            # it answers for a moment still though it is full, or is about to be linked: another may be asked meanwhile
            await asyncio.sleep(_AGAIN_PLACE_SECONDS)
        there = len(self._connected_hosts)
        known = f"{there} are there" if there else "none is there"
        raise ToolError(
            "pool_full",
            f"no host of pool {self.name!r} has room for something new ({known}): close what is not needed, or start "
            "one more with agentcore host --pool",
            retryable=True,
            host=self.name,
        )

    # -- what becomes of it --------------------------------------------------------------------------------------

    def _resource_changed(self, event: Event) -> None:
        """Release the lease of an ended resource."""
        data = event.data
        if data.get("status") == "closed" and is_member(str(data.get("host", ""))):
            delete = self.leases.release_lease(str(data.get("resourceId")))
            if delete is not None:
                self._background.start(delete())


def _as_counted(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts names in natural order."""
    return [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def _resolve_path(folder: Path, path: str | None) -> Path | None:
    return None if path is None else folder / Path(path).expanduser()
