"""Keys of paired clients: each lets one client of a person's approve calls, until somebody revokes it."""

import hashlib
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import structlog

from agentcore.api.errors import ToolError
from agentcore.store.database import Database
from agentcore.store.one_time_codes import OneTimeCodes, short_code

log = structlog.get_logger(__name__)

APPROVER_KEYS = 32
"""Clients that are paired at one time."""

KEY_PREFIX = "acap_"
"""What every key begins with, so that one is recognised where it leaked."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_SECRET_BYTES = 32
_TOUCH_INTERVAL_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class KnownApprover:
    """A paired client as it is stored: by the hash of its key.

    Args:
        name: What the person called it; its id as a principal.
        key_hash: sha256 of the key.
        created_at_ms: Milliseconds since 1970.
        last_used_at_ms: Milliseconds since 1970, exact to the hour.
    """

    name: str
    key_hash: bytes
    created_at_ms: int
    last_used_at_ms: int


class ApproverKeys:
    """Pairs clients by short codes, and knows them again. Its methods belong to the event loop's thread."""

    def __init__(self, database: Database, known: Iterable[KnownApprover], now: Callable[[], float]) -> None:
        self._database, self._now = database, now
        self._codes = OneTimeCodes(now, short_code)
        self._known = {approver.key_hash: approver for approver in known}

    @classmethod
    async def open(cls, database: Database, *, now: Callable[[], float] = time.time) -> Self:
        """Load the paired clients.

        Args:
            database: Where they are kept.
            now: Seconds since 1970.
        """
        return cls(database, await database.write(_load), now)

    def create_code(self) -> str:
        """A short code that pairs one client, once, within ten minutes. Only for a person who may approve already."""
        return self._codes.create()

    async def exchange(self, code: str, name: str) -> str | None:
        """Pair a client: gives its key, once the disk has it; None: the code is not valid (any more).

        Raises:
            ToolError: `invalid_name`, `approver_exists`, `too_many_approvers`.
        """
        self._check_new(name)
        return await self.add(name) if self._codes.use(code.strip().upper()) else None

    async def add(self, name: str) -> str:
        """A new key, for whoever may approve already.

        Raises:
            ToolError: `invalid_name`, `approver_exists`, `too_many_approvers`.
        """
        self._check_new(name)
        key = KEY_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        now_ms = int(self._now() * 1000)
        approver = KnownApprover(name, _hashed(key), now_ms, now_ms)
        self._known[approver.key_hash] = approver
        try:
            await self._database.write(partial(_insert, approver), is_durable=True)
        except BaseException:
            del self._known[approver.key_hash]
            raise
        return key

    async def find(self, key: str) -> str | None:
        """The name of the client that a key belongs to, or None."""
        known = self._known.get(_hashed(key))
        if known is None:
            return None
        now_ms = int(self._now() * 1000)
        if now_ms - known.last_used_at_ms > _TOUCH_INTERVAL_MS:
            await self._touch(replace(known, last_used_at_ms=now_ms))
        return known.name

    async def revoke(self, name: str) -> None:
        """End a client's right to approve, at once and for good.

        Raises:
            ToolError: `approver_not_found`.
        """
        hashes = [known.key_hash for known in self._known.values() if known.name == name]
        if not hashes:
            raise ToolError(
                "approver_not_found", f"no client {name!r} is paired", name=name, approvers=sorted(self._names())
            )
        for key_hash in hashes:
            del self._known[key_hash]
        await self._database.write(partial(_delete, name), is_durable=True)

    def approvers(self) -> list[KnownApprover]:
        """The paired clients, the last used first."""
        return sorted(self._known.values(), key=lambda known: -known.last_used_at_ms)

    def _check_new(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            message = f"{name!r} cannot be a client's name: up to 40 letters, digits and _ . -"
            raise ToolError("invalid_name", message, name=name)
        if name in self._names():
            message = f"a client {name!r} is paired already; revoke it first, or use another name"
            raise ToolError("approver_exists", message, name=name)
        if len(self._known) >= APPROVER_KEYS:
            message = f"{APPROVER_KEYS} clients are paired already; revoke one that is not used any more"
            raise ToolError("too_many_approvers", message, limit=APPROVER_KEYS)

    def _names(self) -> set[str]:
        return {known.name for known in self._known.values()}

    async def _touch(self, approver: KnownApprover) -> None:
        self._known[approver.key_hash] = approver
        try:
            await self._database.write(partial(_set_last_used, approver.name, approver.last_used_at_ms))
        except sqlite3.Error as exc:
            # a full disk must not take the right to reject from the person
            log.warning("approver_not_touched", approver=approver.name, error=str(exc))


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _load(connection: sqlite3.Connection) -> list[KnownApprover]:
    found = connection.execute("SELECT name, key_hash, created_at_ms, last_used_at_ms FROM approver_keys")
    return [KnownApprover(*row) for row in found]


def _insert(approver: KnownApprover, connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO approver_keys VALUES (?, ?, ?, ?)",
        (approver.name, approver.key_hash, approver.created_at_ms, approver.last_used_at_ms),
    )


def _delete(name: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM approver_keys WHERE name = ?", (name,))


def _set_last_used(name: str, now_ms: int, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE approver_keys SET last_used_at_ms = ? WHERE name = ?", (now_ms, name))
