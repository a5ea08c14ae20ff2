"""The server's side of a group of hosts: what its kind implements, and what the server offers to it."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Protocol

from agentcore.api.host_kinds.frames import Carrier, MakePeer
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True)
class HostAnnouncement:
    """The announcement of a host.

    Args:
        capacity: How many resources it can have, for all servers.
        used: How many it has.
        is_drained: True if the user has drained it: it accepts no new work.
    """

    capacity: int
    used: int
    labels: tuple[str, ...] = ()
    is_drained: bool = False


class SharedStorage(Protocol):
    """Bytes that a module on the hosts of a group stores, available on all of them."""

    async def get(self, key: str) -> bytes | None:
        """Return the stored bytes; None: there are none.

        Args:
            key: 64 hexadecimal digits.
        Raises:
            Exception: They cannot be read; the message says why.
        """
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Replace the stored bytes, completely or not at all.

        Raises:
            Exception: They cannot be written; the message says why.
        """
        ...

    async def delete(self, key: str) -> None:
        """Delete the stored bytes, if there are any.

        Raises:
            Exception: They cannot be deleted; the message says why.
        """
        ...


class ResourceLeases(Protocol):
    """The leases of this server: only the owner of a resource may call tools on it."""

    @property
    def held(self) -> Mapping[str, int]:
        """The number of each lease, by resource id: sent with calls; a host refuses a lower one than before."""
        ...

    async def acquire_lease(self, resource_id: str, host: str, limit_s: float) -> None:
        """Acquire the lease of a resource, unless this server has it.

        Args:
            host: The host of the resource, by its name in the group.
            limit_s: How long to try.
        Raises:
            ToolError: It is not known who owns the resource; the call is not carried out.
        """
        ...

    def release_lease(self, resource_id: str) -> Callable[[], Coroutine[Any, Any, None]] | None:
        """Forget the lease of an ended resource; return a function that deletes it, or None if there was none."""
        ...


class HostSource(Protocol):
    """The hosts of one entry of `hosts` in app.json, as their kind finds and reaches them."""

    @property
    def address(self) -> str:
        """Where the hosts are found, for the user."""
        ...

    @property
    def leases(self) -> ResourceLeases:
        """The ownership of resources, for which several servers that share hosts compete."""
        ...

    @property
    def is_reachable(self) -> bool:
        """True if hosts can be found now."""
        ...

    async def run(self) -> None:
        """Find hosts until it is cancelled, and report them to the group."""
        ...

    async def close(self) -> None:
        """Close what `run` opened; called once, after the drivers of all hosts were closed."""
        ...

    async def wait_until_found(self) -> None:
        """Wait until the hosts that exist are connected; the server limits the time.

        Afterwards, the resources of an earlier start of this server are known.
        """
        ...

    async def find_room(self, session_id: str) -> str:
        """Return the connected host for new work of a session, by its name in the group.

        Raises:
            ToolError: `pool_full`: no host accepts new work; `host_away`: hosts cannot be asked now.
        """
        ...

    def open_storage(self, module: str) -> SharedStorage:
        """Return the storage of a module on these hosts."""
        ...


class HostDriver(Protocol):
    """One host, as its kind reaches it."""

    def is_silent(self) -> bool:
        """True if the host does not respond now, though it is connected."""
        ...

    async def set_drained(self, *, is_on: bool) -> None:
        """Drain the host for all servers, or let it accept new work; returns when it has announced it.

        Raises:
            ConnectionError, TimeoutError: The host does not respond.
        """
        ...

    def abort(self, reason: str) -> None:
        """End the connection to the host, which is treated as dead."""
        ...

    async def close(self) -> None:
        """End what is done for the host; its link is closed already."""
        ...


class GroupHost(Protocol):
    """One host, as the server serves it: its modules, calls and resources."""

    @property
    def is_connected(self) -> bool:
        """True if it is connected, and accepts calls."""
        ...

    @property
    def is_drained(self) -> bool:
        """True if it accepts no new work."""
        ...

    @property
    def is_lost(self) -> bool:
        """True if its resources are treated as lost, or none are known yet."""
        ...

    def handle_announcement(self, announced: HostAnnouncement) -> None:
        """Show what it announces to the user."""
        ...

    def set_away(self, reason: str) -> None:
        """Show why it cannot be connected."""
        ...

    async def serve_connection(self, carrying: Callable[[MakePeer], Carrier], address: str) -> None:
        """Serve a connection from its start to its end.

        A lost connection loses nothing: calls wait for the next one, and resources stay for `keep_minutes`.

        Args:
            carrying: Makes what carries the frames of a peer, and with it the peer.
            address: Where the host is, for the user.
        """
        ...

    def mark_dead(self, reason: str) -> None:
        """Treat the host as dead: its calls end with `interrupted`, and its resources are lost."""
        ...


class HostGroup(Protocol):
    """The services of the server for one entry of `hosts` in app.json.

    Attributes:
        name: Its name there.
        server: Identifies this server among those that share the hosts: the same at each start. 16 letters and digits.
        folder: The folder of app.json, which paths in it are relative to.
    """

    name: str
    server: str
    folder: Path

    def add_host(self, name: str, driver: HostDriver) -> GroupHost:
        """Serve a host that was found.

        Args:
            name: Its name in the group; it matches `HOST_NAME`, and no host of the group has it.
        """
        ...

    def remove_host(self, name: str) -> None:
        """Forget a host; its driver is closed."""
        ...

    def set_state(self, reason: str) -> None:
        """Show why hosts cannot be found now; empty: they can."""
        ...

    def mark_failed(self, reason: str) -> None:
        """Show that the group cannot be used until the configuration is corrected."""
        ...
