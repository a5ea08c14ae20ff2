"""A pool of hosts, as one of its servers sees it: which hosts there are, and which one accepts new work."""

import asyncio
import contextlib
import secrets
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from agentcore.api import ToolError
from agentcore.api.host_kinds import HostGroup, LinkError
from agentcore_nats_hosts.connection import NatsConnection, NatsServers
from agentcore_nats_hosts.leases import Leases
from agentcore_nats_hosts.member import Member
from agentcore_nats_hosts.pool_messages import (
    Announcement,
    PlacementReply,
    PlacementRequest,
    ServerSign,
    read_pool_message,
)
from agentcore_nats_hosts.settings import PoolConfig
from agentcore_nats_hosts.stored_objects import StoredObjects
from agentcore_nats_hosts.subjects import SIGN_SECONDS, Subjects

if TYPE_CHECKING:
    from nats.aio.msg import Msg

log = structlog.get_logger(__name__)

DEAD_SECONDS = 2.5
"""After this time without an announcement, while NATS is reachable, a host counts as dead."""

RETURN_SECONDS = 10.0
"""The same for a host that was not heard since NATS is reachable again: hosts find NATS later than this server."""

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


class Pool:
    """The hosts of a pool; implements `HostSource`.

    Args:
        group: The pool at the server.
    """

    def __init__(self, config: PoolConfig, group: HostGroup) -> None:
        self.name = group.name
        self.address = ", ".join(config.servers)
        self.modules = config.modules
        self.server = group.server
        self.subjects = Subjects(group.name)
        self._config = config
        self._group = group
        self._servers = NatsServers(
            config.servers, _resolve_path(group.folder, config.key), _resolve_path(group.folder, config.ca)
        )
        self.nats = NatsConnection(
            self._servers, f"agentcore server {self.server}", self.subjects.inbox_prefix(), group.set_state
        )
        self.leases = Leases(self.nats, self.subjects, self.server, config.keep_minutes * 60)
        self._members: dict[str, Member] = {}
        self._found_all = asyncio.Event()

    @property
    def is_reachable(self) -> bool:
        """True if NATS is connected."""
        return self.nats.is_up

    def open_storage(self, module: str) -> StoredObjects:
        return StoredObjects(self.nats, self.subjects, self.server, module)

    # -- from its beginning to its end ---------------------------------------------------------------------------

    async def run(self) -> None:
        """See `HostSource`; raises why NATS cannot be used at all: an address, a key, no JetStream."""
        self._servers.check_addresses()
        await self.nats.open()
        while True:
            try:
                await self.nats.wait_until_up()
                await self.leases.open()
                await self._watch_hosts()
            except asyncio.CancelledError:
                raise
            except Exception as exc:  # noqa: BLE001 - NATS went away, or does not let this server: tried again
                log.warning("pool_not_reached", pool=self.name, reason=str(exc))
                self._group.set_state(f"NATS: {exc}")
                await asyncio.sleep(_AGAIN_SECONDS)

    async def close(self) -> None:
        await self.nats.close()

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
            self._group.set_state("")
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
        late = [each for each in self._members.values() if not each.host.is_connected and each.silent_s < DEAD_SECONDS]
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
            member = self._members[said.member] = Member(self, said.member)
            member.host = self._group.add_host(said.member, member)
        member.handle_announcement(said)

    def _check_dead_hosts(self) -> None:
        up_s = asyncio.get_running_loop().time() - self.nats.up_since
        for name, member in list(self._members.items()):
            limit_s = RETURN_SECONDS if member.silent_s > up_s else DEAD_SECONDS
            if min(member.silent_s, up_s) > limit_s and not member.host.is_lost:
                log.warning("host_died", host=f"{self.name}.{name}", silent_s=round(member.silent_s, 1))
                member.host.mark_dead(f"host '{self.name}.{name}' gave no sign of life for {limit_s:g} s")
            elif member.silent_s > _FORGOTTEN_SECONDS:
                del self._members[name]
                self._group.remove_host(name)

    # -- placement -----------------------------------------------------------------------------------------------

    async def wait_until_found(self) -> None:
        await self._found_all.wait()

    async def find_room(self, session_id: str) -> str:
        """See `HostSource`: NATS sends the request to one of the hosts with free capacity."""
        subject = self.subjects.placement_subject(self._config.labels)
        full = 0
        loop = asyncio.get_running_loop()
        until = loop.time() + _LINKED_SECONDS
        while full < _PLACE_TRIES and loop.time() < until:
            requested = PlacementRequest(server=self.server, question=secrets.token_hex(8), session=session_id[:500])
            answers = partial(self.subjects.up_subject, server=self.server, link=requested.question)
            try:
                answer = await self.nats.request(subject, requested.encode(), answers, _PLACE_SECONDS)
            except ConnectionError as exc:
                raise ToolError(
                    "host_away", f"pool {self.name!r} is not reached ({exc}); try again", retryable=True, host=self.name
                ) from None
            if answer is None:
                break
            with contextlib.suppress(LinkError):
                given = read_pool_message(PlacementReply, answer.data)
                # a host can only announce itself, because NATS restricts it to subjects with its own name
                name = self.subjects.speaker(answer.subject)
                member = self._members.get(name)
                if not given.is_full and member is not None and member.host.is_connected and not member.host.is_drained:
                    return name
                full += given.is_full
            # it answers for a moment still though it is full, or is about to be linked: another may be asked meanwhile
            await asyncio.sleep(_AGAIN_PLACE_SECONDS)
        there = sum(member.host.is_connected for member in self._members.values())
        known = f"{there} are there" if there else "none is there"
        raise ToolError(
            "pool_full",
            f"no host of pool {self.name!r} has room for something new ({known}): close what is not needed, or start "
            "one more with agentcore host --pool",
            retryable=True,
            host=self.name,
        )


def _resolve_path(folder: Path, path: str | None) -> Path | None:
    return None if path is None else folder / Path(path).expanduser()
