"""One host of a pool, as a server reaches it: by links over NATS, and by announcements that show its death quickly."""

import asyncio
import secrets
from typing import Protocol

from agentcore.api.host_kinds import PROTOCOL, GroupHost, HostAnnouncement, MakePeer
from agentcore_nats_hosts.connection import NatsConnection
from agentcore_nats_hosts.nats_link import NatsLink
from agentcore_nats_hosts.pool_messages import Announcement, DrainRequest, OpenLink
from agentcore_nats_hosts.subjects import Subjects

_DRAIN_SECONDS = 5.0
_SILENT_SECONDS = 1.2
_LINK_SECONDS = 2.0
"""How soon after it was opened a link must occur in the host's announcements."""

_END_SECONDS = 3.0


class ItsPool(Protocol):
    """The pool of a host, as far as the host uses it."""

    name: str
    server: str
    modules: tuple[str, ...]
    nats: NatsConnection
    subjects: Subjects


class Member:
    """One host of a pool; implements `HostDriver`.

    Args:
        name: Its name in the pool.
    Attributes:
        host: The host at the server; set when the server serves it.
    """

    host: GroupHost

    def __init__(self, pool: ItsPool, name: str) -> None:
        self._pool = pool
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._announced: Announcement | None = None
        self._seen_at = self._loop.time()
        self._opened_at = 0.0
        self._has_said = asyncio.Event()
        self._link_id = ""
        self._carrier: NatsLink | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def silent_s(self) -> float:
        """How long it has been silent."""
        return self._loop.time() - self._seen_at

    def is_silent(self) -> bool:
        return self.silent_s > _SILENT_SECONDS

    def handle_announcement(self, said: Announcement) -> None:
        """Handle an announcement of the host."""
        self._seen_at = self._loop.time()
        former = self._announced
        self._announced = said
        self.host.handle_announcement(
            HostAnnouncement(said.capacity, said.used, tuple(said.labels), is_drained=said.is_drained)
        )
        self._has_said.set()
        if said.protocol != PROTOCOL:
            self.host.set_away(f"it speaks {said.protocol!r}, and this server {PROTOCOL!r}")
            return
        has_link = said.links.get(self._pool.server) == self._link_id
        is_old = self._loop.time() - self._opened_at > _LINK_SECONDS
        if self._carrier is not None and (
            (former is not None and former.instance != said.instance) or (is_old and not has_link)
        ):
            self._carrier.abort("the host does not know of the link any more")
        elif self._serving is None:
            # in no TaskGroup: the end of the link ends it, or `close`
            self._serving = self._loop.create_task(self._serve_link(), name=f"host:{self._pool.name}.{self._name}:link")
            self._serving.add_done_callback(lambda _: self._handle_serving_end())

    async def set_drained(self, *, is_on: bool) -> None:
        requested = DrainRequest(on=is_on).encode()
        async with asyncio.timeout(_DRAIN_SECONDS):
            await self._pool.nats.publish(self._pool.subjects.drain_subject(self._name), requested)
            while self.host.is_drained is not is_on:
                self._has_said.clear()
                await self._has_said.wait()

    def abort(self, reason: str) -> None:
        if self._carrier is not None:
            self._carrier.abort(reason)

    async def close(self) -> None:
        if self._serving is not None:
            await asyncio.wait({self._serving}, timeout=_END_SECONDS)
        if self._serving is not None:
            self._serving.cancel()

    async def _serve_link(self) -> None:
        """Open a link, and carry it to its end."""
        pool = self._pool
        self._link_id = secrets.token_hex(8)
        self._opened_at = self._loop.time()
        names = self._name, pool.server, self._link_id
        requested = OpenLink(server=pool.server, link=self._link_id, protocol=PROTOCOL, modules=list(pool.modules))

        async def request_link() -> None:
            await pool.nats.publish(pool.subjects.open_link_subject(self._name), requested.encode())

        def make_carrier(make_peer: MakePeer) -> NatsLink:
            self._carrier = NatsLink(
                pool.nats, pool.subjects.up_subject(*names), pool.subjects.down_subject(*names), request_link, make_peer
            )
            return self._carrier

        await self.host.serve_connection(make_carrier, f"NATS ({self._name})")

    def _handle_serving_end(self) -> None:
        self._serving = self._carrier = None
