"""Keys of hosts on other machines, and what is known about these hosts between connections."""

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Protocol, Self

from agentcore.late_dataclasses import dataclass
from agentcore.store.database.database import Database

HOST_KEY_PREFIX = "achk_"
"""Prefix of every host key, so that leaked keys are recognised."""

HOST_KEYS = 256
"""Maximum number of paired hosts on other machines."""

_SECRET_BYTES = 32
_COLUMNS = "name, key_hash, paired_at_ms, last_seen_ms, address, platform, version, is_shut, is_drained, may_use_chats"


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host on another machine that the user has paired. Times in milliseconds since 1970.

    Args:
        key_hash: sha256 of its key.
        last_seen_ms: When it was last connected; 0: never.
        address: The address it last connected from.
        platform: The operating system that it reports.
        version: The version of agentcore that it reports.
        is_shut: True if the user has disconnected it until they allow it again.
        is_drained: True if it gets no new work.
        may_use_chats: True if the user allowed it to use chats: history, summary, to-do list, models, agents.
    """

    name: str
    key_hash: bytes
    paired_at_ms: int
    last_seen_ms: int = 0
    address: str = ""
    platform: str = ""
    version: str = ""
    is_shut: bool = False
    is_drained: bool = False
    may_use_chats: bool = False


class KnownHosts(Protocol):
    """Stored information about hosts on other machines."""

    def find_host(self, name: str) -> KnownHost | None:
        """Return the host with this name, or None if it is unknown."""
        ...

    async def update_host(self, name: str, **changed: object) -> None:
        """Update what is stored about a host."""
        ...

    async def mark_seen(self, name: str, **changed: object) -> None:
        """Update a host and set its last-seen time to now."""
        ...


class HostKeys:
    """Creates and checks the keys of hosts. Its methods may only be called in the event loop's thread."""

    def __init__(self, database: Database, known: Iterable[KnownHost], now: Callable[[], float]) -> None:
        self._database = database
        self._now = now
        self._known = {host.name: host for host in known}

    @classmethod
    async def open(cls, database: Database, *, now: Callable[[], float] = time.time) -> Self:
        """Load the paired hosts."""
        return cls(database, await database.write(_load), now)

    @property
    def is_full(self) -> bool:
        """True if no more hosts can be paired."""
        return len(self._known) >= HOST_KEYS

    def list_hosts(self) -> list[KnownHost]:
        """Return all paired hosts, sorted by name."""
        return [self._known[name] for name in sorted(self._known)]

    def find_host(self, name: str) -> KnownHost | None:
        """Return the host with this name, or None if it is not paired."""
        return self._known.get(name)

    async def create_key(self, name: str, *, may_use_chats: bool = False) -> str:
        """Create a key and return it once it is on disk; the previous key of this name becomes invalid."""
        key = HOST_KEY_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        host = KnownHost(name, _hash_key(key), int(self._now() * 1000), may_use_chats=may_use_chats)
        await self._database.write(partial(_insert, host), is_durable=True)
        self._known[name] = host
        return key

    def find_by_key(self, key: str) -> KnownHost | None:
        """Return the host that a key belongs to, or None."""
        shown = _hash_key(key)
        found = None
        for host in self._known.values():
            # no early exit, so that the time reveals nothing about any key
            if secrets.compare_digest(host.key_hash, shown):
                found = host
        return found

    async def update_host(self, name: str, **changed: object) -> None:
        """Update what is stored about a host; do nothing if it has been deleted."""
        host = self._known.get(name)
        if host is None:
            return
        now = replace(host, **changed)  # type: ignore[arg-type]  # its own fields
        self._known[name] = now
        # a power cut must not restore a right that was revoked
        await self._database.write(partial(_update, now), is_durable=now.may_use_chats != host.may_use_chats)

    async def mark_seen(self, name: str, **changed: object) -> None:
        """Update a host and set its last-seen time to now."""
        await self.update_host(name, last_seen_ms=int(self._now() * 1000), **changed)

    async def delete_host(self, name: str) -> None:
        """Revoke a host's access at once; it is permanent once on disk."""
        if self._known.pop(name, None) is not None:
            await self._database.write(partial(_delete, name), is_durable=True)


def _hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _load(connection: sqlite3.Connection) -> list[KnownHost]:
    return [
        KnownHost(*row[:-3], *map(bool, row[-3:]))
        for row in connection.execute(f"SELECT {_COLUMNS} FROM host_keys")  # noqa: S608 - names of our own
    ]


def _to_columns(host: KnownHost) -> tuple[object, ...]:
    seen = host.last_seen_ms, host.address, host.platform, host.version
    flags = int(host.is_shut), int(host.is_drained), int(host.may_use_chats)
    return host.name, host.key_hash, host.paired_at_ms, *seen, *flags


def _insert(host: KnownHost, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO host_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _to_columns(host))


def _update(host: KnownHost, connection: sqlite3.Connection) -> None:
    """Update only if the key is the same: the host may have been deleted or paired again."""
    seen = "last_seen_ms = ?, address = ?, platform = ?, version = ?, is_shut = ?, is_drained = ?, may_use_chats = ?"
    connection.execute(
        f"UPDATE host_keys SET {seen} WHERE name = ? AND key_hash = ?",  # noqa: S608 - names of our own
        (*_to_columns(host)[3:], host.name, host.key_hash),
    )


def _delete(name: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM host_keys WHERE name = ?", (name,))
    # the next host with this name is another machine, whose definitions have not been seen
    connection.execute("DELETE FROM seen_definitions WHERE module LIKE ? ESCAPE '\\'", (f"{_escape_like(name)}/%",))


def _escape_like(name: str) -> str:
    return name.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
