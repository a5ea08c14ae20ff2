"""Keys of hosts on other machines, and what is known of these hosts between their connections."""

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self

from agentcore.store.database.database import Database

HOST_KEY_PREFIX = "achk_"
"""What every key of a host begins with, so that one is recognised where it leaked."""

HOST_KEYS = 256
"""Hosts of other machines that are paired at one time."""

_SECRET_BYTES = 32
_COLUMNS = "name, key_hash, paired_at_ms, last_seen_ms, address, platform, version, is_shut, is_drained, may_use_chats"


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host on another machine that a person has let in. Times in milliseconds since 1970.

    Args:
        key_hash: sha256 of its key.
        last_seen_ms: When it was connected last; 0: never yet.
        address: From where that was.
        platform: The system of its machine, as it says.
        version: The version of agentcore that it runs, as it says.
        is_shut: Whether a person has disconnected it until they let it in again.
        is_drained: Whether nothing new goes there.
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
    """What is known of hosts on other machines."""

    def find_host(self, name: str) -> KnownHost | None:
        """The host of a name; None: none is known."""
        ...

    async def update_host(self, name: str, **changed: object) -> None:
        """Keep what is known of a host now."""
        ...

    async def mark_seen(self, name: str, **changed: object) -> None:
        """The same of one that is, or was, connected now."""
        ...


class HostKeys:
    """Makes the keys of hosts, and knows them again. Its methods belong to the event loop's thread."""

    def __init__(self, database: Database, known: Iterable[KnownHost], now: Callable[[], float]) -> None:
        self._database = database
        self._now = now
        self._known = {host.name: host for host in known}

    @classmethod
    async def open(cls, database: Database, *, now: Callable[[], float] = time.time) -> Self:
        """Load the hosts that are paired."""
        return cls(database, await database.write(_load), now)

    @property
    def is_full(self) -> bool:
        """Whether no more hosts can be paired."""
        return len(self._known) >= HOST_KEYS

    def list_hosts(self) -> list[KnownHost]:
        """All of them, by name."""
        return [self._known[name] for name in sorted(self._known)]

    def find_host(self, name: str) -> KnownHost | None:
        """The host of a name; None: none is paired."""
        return self._known.get(name)

    async def create_key(self, name: str, *, may_use_chats: bool = False) -> str:
        """A new key, once the disk has it; one that the name had before opens nothing any more."""
        key = HOST_KEY_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        host = KnownHost(name, _hash_key(key), int(self._now() * 1000), may_use_chats=may_use_chats)
        await self._database.write(partial(_insert, host), is_durable=True)
        self._known[name] = host
        return key

    def find_by_key(self, key: str) -> KnownHost | None:
        """The host that a key belongs to, or None."""
        shown = _hash_key(key)
        found = None
        for host in self._known.values():
            # no early end: how long it takes tells nothing about any key
            if secrets.compare_digest(host.key_hash, shown):
                found = host
        return found

    async def update_host(self, name: str, **changed: object) -> None:
        """Keep what is known of a host now; of one that was forgotten meanwhile, nothing."""
        host = self._known.get(name)
        if host is None:
            return
        now = replace(host, **changed)  # type: ignore[arg-type]  # its own fields
        self._known[name] = now
        # a right that was taken away is not given back by a power cut
        await self._database.write(partial(_update, now), is_durable=now.may_use_chats != host.may_use_chats)

    async def mark_seen(self, name: str, **changed: object) -> None:
        """The same of one that is, or was, connected now."""
        await self.update_host(name, last_seen_ms=int(self._now() * 1000), **changed)

    async def delete_host(self, name: str) -> None:
        """End what a host may do: at once, and for good once the disk has it."""
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
    """Only where it is still the same one: it may have been forgotten, or paired anew."""
    seen = "last_seen_ms = ?, address = ?, platform = ?, version = ?, is_shut = ?, is_drained = ?, may_use_chats = ?"
    connection.execute(
        f"UPDATE host_keys SET {seen} WHERE name = ? AND key_hash = ?",  # noqa: S608 - names of our own
        (*_to_columns(host)[3:], host.name, host.key_hash),
    )


def _delete(name: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM host_keys WHERE name = ?", (name,))
    # whoever has this name next is another machine, of which nobody has seen anything
    connection.execute("DELETE FROM seen_definitions WHERE module LIKE ? ESCAPE '\\'", (f"{_escape_like(name)}/%",))


def _escape_like(name: str) -> str:
    return name.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
