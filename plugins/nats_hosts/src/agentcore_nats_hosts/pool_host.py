"""The program of a host of a pool: found over NATS, shared by servers, each with its own modules in it."""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from agentcore.api import Background
from agentcore.api.host_kinds import (
    HOST_NAME,
    LABEL,
    LABELS,
    PROTOCOL,
    HostKindError,
    HostMachine,
    HostWorker,
    LinkError,
)
from agentcore_nats_hosts.connection import NatsConnection, NatsServers
from agentcore_nats_hosts.nats_link import NatsLink
from agentcore_nats_hosts.pool_messages import (
    Announcement,
    DrainRequest,
    OpenLink,
    PlacementReply,
    PlacementRequest,
    ServerSign,
    read_pool_message,
)
from agentcore_nats_hosts.subjects import QUEUE, SIGN_SECONDS, Subjects

if TYPE_CHECKING:
    from nats.aio.msg import Msg

log = structlog.get_logger(__name__)

SERVER_SECONDS = 10.0
"""After this time without an announcement a server counts as away, and its resources here are kept for a while."""

_FORGOTTEN_SECONDS = 3600.0
"""After this time the modules of a server that is away and has no resources here are stopped."""

_PROMISED_SECONDS = 60.0
_AGAIN_SECONDS = 1.0
_LOOK_SECONDS = 0.25
_SERVERS = 100


@dataclass(frozen=True)
class Membership:
    """A host's membership in its pool.

    Args:
        name: Its name in the pool.
        capacity: How many resources it can have.
    """

    pool: str
    name: str
    servers: NatsServers
    capacity: int
    labels: tuple[str, ...] = ()

    @classmethod
    def from_options(
        cls, pool: str, name: str, servers: NatsServers, capacity: int, labels: Sequence[str]
    ) -> "Membership":
        """Read the options that the user entered.

        Raises:
            HostKindError: They are invalid; the message says why.
        """
        servers.check_addresses()
        if not re.fullmatch(HOST_NAME, pool):
            raise HostKindError(f"{pool!r} cannot be a pool's name: {HOST_NAME}")
        if wrong := [each for each in labels if not re.fullmatch(LABEL, each)]:
            raise HostKindError(f"{wrong[0]!r} cannot be a label: {LABEL}")
        if len(labels) > LABELS:
            raise HostKindError(f"{len(labels)} labels are too many: {LABELS} are the bound")
        return cls(pool, name, servers, capacity, tuple(sorted(set(labels))))


class _Client:
    """One server, as this host knows it."""

    def __init__(self, worker: HostWorker) -> None:
        self.worker = worker
        self.seen_at = asyncio.get_running_loop().time()
        self.link: NatsLink | None = None
        self.link_id = ""
        self.carrying: asyncio.Task[None] | None = None


class PoolHost:
    """Keeps a host in its pool; implements `HostProgram`.

    Args:
        machine: The machine, whose modules are started separately for each server.
    """

    def __init__(self, membership: Membership, machine: HostMachine) -> None:
        self._membership = membership
        self._machine = machine
        self._subjects = Subjects(membership.pool)
        self._instance = secrets.token_hex(8)
        answers = self._subjects.inbox_prefix(membership.name)
        self._nats = NatsConnection(membership.servers, f"agentcore host {membership.name}", answers, self._nats_is)
        self._clients: dict[str, _Client] = {}
        self._promised: dict[tuple[str, str], float] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._wanted: dict[str, OpenLink] = {}
        self._ending = Background("pool:servers")
        self._is_drained = False

    async def run(self) -> None:
        """Be there until it is cancelled."""
        await self._nats.open()
        while True:
            await self._nats.wait_until_up()
            try:
                await self._serve_pool()
            except ConnectionError as exc:
                log.warning("pool_not_reached", reason=str(exc))
                await asyncio.sleep(_AGAIN_SECONDS)

    async def stop(self) -> None:
        """Disconnect from all servers, and end all resources here."""
        for opening in self._opening.values():
            opening.cancel()
        for client in self._clients.values():
            client.worker.disconnect("its program was ended")
        carrying = {client.carrying for client in self._clients.values() if client.carrying is not None}
        if carrying:
            await asyncio.wait(carrying, timeout=3)
        for client in self._clients.values():
            await client.worker.stop()
        await self._ending.stop()
        await self._nats.close()

    # -- being there -------------------------------------------------------------------------------------------

    async def _serve_pool(self) -> None:
        """Say that it is there, and answer servers, as long as NATS is there."""
        me = self._membership.name
        subjects = self._subjects
        async with contextlib.AsyncExitStack() as held:
            for subject, take in (
                (subjects.server_subject(), self._handle_server_sign),
                (subjects.open_link_subject(me), self._handle_open_link),
                (subjects.drain_subject(me), self._handle_drain),
            ):
                await held.enter_async_context(self._nats.subscribe(subject, take))
            places: contextlib.AsyncExitStack | None = None
            held.push_async_callback(lambda: _close_stack(places))
            due = 0.0
            while True:
                if places is None and self._has_room:
                    places = contextlib.AsyncExitStack()
                    for subject in subjects.placement_subjects(self._membership.labels):
                        await places.enter_async_context(self._nats.subscribe(subject, self._answer_placement, QUEUE))
                elif places is not None and not self._has_room:
                    full = places
                    places = None
                    await full.aclose()
                if self._nats.is_up and asyncio.get_running_loop().time() >= due:
                    due = asyncio.get_running_loop().time() + SIGN_SECONDS
                    await self._nats.publish(subjects.alive_subject(me), self._build_announcement().encode())
                    self._check_servers()
                await asyncio.sleep(_LOOK_SECONDS)

    def _build_announcement(self) -> Announcement:
        return Announcement(
            member=self._membership.name,
            protocol=PROTOCOL,
            instance=self._instance,
            version=self._machine.version,
            labels=list(self._membership.labels),
            capacity=self._membership.capacity,
            used=self._used_capacity,
            is_drained=self._is_drained,
            links={server: each.link_id for server, each in self._clients.items() if each.link is not None}
            | {server: requested.link for server, requested in self._wanted.items()},
        )

    def _nats_is(self, state: str) -> None:
        where = ", ".join(self._membership.servers.addresses)
        self._machine.report_state(
            state or f"in pool {self._membership.pool!r} at {where} as {self._membership.name!r}"
        )

    # -- capacity ------------------------------------------------------------------------------------------------

    @property
    def _used_capacity(self) -> int:
        """Return the number of resources here, plus sessions with reserved capacity that they have not used yet."""
        now = asyncio.get_running_loop().time()
        living = {(server, session) for server, each in self._clients.items() for session in each.worker.session_ids}
        self._promised = {key: until for key, until in self._promised.items() if until > now and key not in living}
        return sum(each.worker.resource_count for each in self._clients.values()) + len(self._promised)

    @property
    def _has_room(self) -> bool:
        return not self._is_drained and self._used_capacity < self._membership.capacity

    async def _answer_placement(self, message: "Msg") -> None:
        """Answer a server that looks for a host with free capacity."""
        try:
            requested = read_pool_message(PlacementRequest, message.data)
        except LinkError:
            return
        is_full = not self._has_room
        if not is_full:
            self._promised[requested.server, requested.session] = asyncio.get_running_loop().time() + _PROMISED_SECONDS
        answer_to = self._subjects.up_subject(self._membership.name, requested.server, requested.question)
        with contextlib.suppress(ConnectionError):
            await self._nats.publish(answer_to, PlacementReply(is_full=is_full).encode())

    async def _handle_drain(self, message: "Msg") -> None:
        with contextlib.suppress(LinkError):
            self._is_drained = read_pool_message(DrainRequest, message.data).on
            log.warning("host_drained" if self._is_drained else "host_takes_new_work")

    # -- servers ---------------------------------------------------------------------------------------------------

    async def _handle_server_sign(self, message: "Msg") -> None:
        with contextlib.suppress(LinkError):
            client = self._clients.get(read_pool_message(ServerSign, message.data).server)
            if client is not None:
                client.seen_at = asyncio.get_running_loop().time()

    def _check_servers(self) -> None:
        now = asyncio.get_running_loop().time()
        for server, client in list(self._clients.items()):
            if client.link is None and not client.worker.resource_count and now - client.seen_at > _FORGOTTEN_SECONDS:
                del self._clients[server]
                self._ending.start(client.worker.stop())
            if client.link is not None and now - max(client.seen_at, self._nats.up_since) > SERVER_SECONDS:
                client.link.abort(f"the server gave no sign of life for {SERVER_SECONDS:g} s")

    async def _handle_open_link(self, message: "Msg") -> None:
        """Open a link that a server requests; while its modules start, messages of other servers are handled."""
        try:
            requested = read_pool_message(OpenLink, message.data)
        except LinkError as exc:
            log.warning("link_refused", reason=str(exc))
            return
        if requested.protocol != PROTOCOL or (len(self._clients) >= _SERVERS and requested.server not in self._clients):
            log.warning("link_refused", server=requested.server, protocol=requested.protocol)
            return
        self._wanted[requested.server] = requested
        if requested.server in self._opening:
            return  # the last link that a server requests is used, once its modules have started
        # in no TaskGroup: `stop` ends it, or it ends by itself
        opening = asyncio.get_running_loop().create_task(
            self._link_to(requested.server), name=f"link:{requested.server}"
        )
        self._opening[requested.server] = opening
        opening.add_done_callback(lambda _: self._opening.pop(requested.server, None))

    async def _link_to(self, server: str) -> None:
        """Open the link that a server requests; if it requests another one meanwhile, that one."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(server)
        if client is None:
            client = self._clients[server] = _Client(await self._start_worker(self._wanted[server]))
        while (requested := self._wanted.get(server)) is not None:
            client.seen_at = loop.time()
            if client.link is not None:
                client.link.abort("the server has opened another link")
            if client.carrying is not None:
                await asyncio.wait({client.carrying})
            link = client.link = self._make_link(client.worker, requested)
            client.link_id = requested.link
            if self._wanted.get(server) is requested:
                del self._wanted[server]
            client.carrying = loop.create_task(_carry_link(client, link), name=f"link:{server}:carry")

    async def _start_worker(self, wanted: OpenLink) -> HostWorker:
        """Start the modules that a server requests, with their own data."""
        name = f"{self._membership.pool}.{self._membership.name}"
        return await self._machine.start_worker(name, wanted.server, wanted.modules)

    def _make_link(self, worker: HostWorker, wanted: OpenLink) -> NatsLink:
        names = self._membership.name, wanted.server, wanted.link

        async def send_hello() -> None:
            worker.send_hello()

        return NatsLink(
            self._nats,
            self._subjects.down_subject(*names),
            self._subjects.up_subject(*names),
            send_hello,
            lambda link: worker.attach(link, lambda reason: None),
        )


async def _carry_link(client: _Client, link: NatsLink) -> None:
    """Carry a link from its beginning to its end."""
    try:
        await link.carry_frames()
    finally:
        if client.link is link:
            client.link = None


async def _close_stack(stack: contextlib.AsyncExitStack | None) -> None:
    if stack is not None:
        await stack.aclose()
