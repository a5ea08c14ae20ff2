"""Keys of paired clients: each permits one client what the user chose for it, until it is revoked."""

import hashlib
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import structlog

from agentcore.api.tool_context import KeyScope, Principal
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.store.database.database import Database

log = structlog.get_logger(__name__)

CLIENT_KEYS = 32
"""Maximum number of paired clients."""

KEY_PREFIX = "acap_"
"""Prefix of every client key, so that leaked keys are recognised."""

PairedKind = Literal["program", "extension"]
"""Kind stated by a client when it pairs: a program of the user's, or an extension of their browser."""

ClientKind = Literal["program", "extension", "mcp"]
"""A paired kind, or `mcp`: an agent that calls tools over MCP; it is connected, not paired, and has no scopes."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_MCP_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
"""Part of the id of the client's session, so it excludes the dot."""
_SECRET_BYTES = 32
_TOUCH_INTERVAL_MS = 3_600_000
_NEW_OWNER = "page"


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A paired client as it is stored: by the hash of its key.

    Args:
        name: Its name, which is also its id as a principal.
        key_hash: sha256 of the key.
        created_at_ms: Milliseconds since 1970.
        last_used_at_ms: Milliseconds since 1970, exact to the hour.
        scopes: The scopes that the user chose for it.
        kind: The kind that it stated.
        origin: The web origin that it was paired from; empty for programs.
    """

    name: str
    key_hash: bytes
    created_at_ms: int
    last_used_at_ms: int
    scopes: frozenset[KeyScope]
    kind: ClientKind = "program"
    origin: str = ""

    @property
    def principal(self) -> Principal:
        """The principal of calls made with its key."""
        return Principal("mcp", self.name) if self.kind == "mcp" else Principal("client", self.name, self.scopes)


class ClientKeys:
    """Creates and checks the keys of clients. Its methods may only be called in the event loop's thread."""

    def __init__(self, database: Database, known: Iterable[KnownClient], now: Callable[[], float]) -> None:
        self._database = database
        self._now = now
        self._known = {client.key_hash: client for client in known}
        self._half_revoked: dict[str, KnownClient] = {}

    @classmethod
    async def open(cls, database: Database, *, now: Callable[[], float] = time.time) -> Self:
        """Load the paired clients."""
        return cls(database, await database.write(_load), now)

    async def create_key(
        self, name: str, scopes: Iterable[KeyScope], *, kind: ClientKind = "program", origin: str = ""
    ) -> str:
        """Create a key and return it once it is on disk.

        Call it only when the user has confirmed the pairing or connects an agent themselves.

        Raises:
            ToolError: `invalid_name`, `approver_exists`, `too_many_approvers`.
        """
        self.check_new_client(name, kind)
        key = KEY_PREFIX + secrets.token_urlsafe(_SECRET_BYTES)
        now_ms = int(self._now() * 1000)
        client = KnownClient(name, _hash_key(key), now_ms, now_ms, frozenset(scopes), kind, origin)
        self._known[client.key_hash] = client
        try:
            await self._database.write(partial(_insert, client), is_durable=True)
        except BaseException:
            del self._known[client.key_hash]
            raise
        return key

    async def find_by_key(self, key: str) -> KnownClient | None:
        """Return the client that a key belongs to, or None."""
        known = self._known.get(_hash_key(key))
        if known is None:
            return None
        now_ms = int(self._now() * 1000)
        if now_ms - known.last_used_at_ms > _TOUCH_INTERVAL_MS:
            await self._touch(replace(known, last_used_at_ms=now_ms))
        # it may have been revoked during the write
        return self._known.get(known.key_hash)

    def get_client(self, name: str) -> KnownClient:
        """Return the client with this name.

        Raises:
            ToolError: `approver_not_found`.
        """
        found = next((known for known in self._all() if known.name == name), None)
        if found is None:
            message = f"no client {name!r} is paired or connected"
            raise ToolError("approver_not_found", message, name=name, approvers=sorted(self._client_names()))
        return found

    async def revoke_client(self, name: str, end: Callable[[], None]) -> list[str]:
        """Revoke a client at once and for good: its key, its waiting calls and its grants for later calls.

        If the disk cannot be written, the key stays invalid until the process ends; the client remains listed, so that
        the user can revoke it again.

        Args:
            end: Called as soon as the key is invalid, to close what was opened with it.
        Returns:
            The ids of its sessions, which remain and now belong to the user.
        Raises:
            ToolError: `approver_not_found`.
        """
        known = self.get_client(name)
        self._known.pop(known.key_hash, None)
        self._half_revoked[name] = known
        # first, so that what it has open does not continue while waiting for the disk
        end()
        sessions = await self._database.write(partial(_delete, name, known.principal.name), is_durable=True)
        self._half_revoked.pop(name, None)
        return sessions

    def list_clients(self) -> list[KnownClient]:
        """Return the paired clients, most recently used first."""
        return sorted(self._all(), key=lambda known: -known.last_used_at_ms)

    def check_new_client(self, name: str, kind: ClientKind = "program") -> None:
        """Check that a client with this name could be paired.

        Raises:
            ToolError: `invalid_name`, `approver_exists`, `too_many_approvers`.
        """
        pattern, characters = (_MCP_NAME, "_ and -") if kind == "mcp" else (_NAME, "_ . -")
        if not pattern.fullmatch(name):
            message = f"{name!r} cannot be a client's name: up to 40 letters, digits and {characters}"
            raise ToolError("invalid_name", message, name=name)
        if name in self._client_names():
            message = f"a client {name!r} is paired already; revoke it first, or use another name"
            raise ToolError("approver_exists", message, name=name)
        if len(self._all()) >= CLIENT_KEYS:
            message = f"{CLIENT_KEYS} clients are paired already; revoke one that is not used any more"
            raise ToolError("too_many_approvers", message, limit=CLIENT_KEYS)

    def _client_names(self) -> set[str]:
        return {known.name for known in self._all()}

    def _all(self) -> list[KnownClient]:
        """Return all clients, including those whose key is invalid but still on disk."""
        return [*self._known.values(), *self._half_revoked.values()]

    async def _touch(self, client: KnownClient) -> None:
        self._known[client.key_hash] = client
        try:
            await self._database.write(partial(_set_last_used, client.name, client.last_used_at_ms))
        except sqlite3.Error as exc:
            # a full disk must not prevent the user from rejecting calls
            log.warning("client_not_touched", client=client.name, error=str(exc))


def _hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _load(connection: sqlite3.Connection) -> list[KnownClient]:
    query = "SELECT name, key_hash, created_at_ms, last_used_at_ms, scopes, kind, origin FROM approver_keys"
    return [
        KnownClient(name, key_hash, created_at_ms, last_used_at_ms, frozenset(scopes.split()), kind, origin)
        for name, key_hash, created_at_ms, last_used_at_ms, scopes, kind, origin in connection.execute(query)
    ]


def _insert(client: KnownClient, connection: sqlite3.Connection) -> None:
    scopes = " ".join(sorted(client.scopes))
    connection.execute(
        "INSERT INTO approver_keys VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            client.name,
            client.key_hash,
            client.created_at_ms,
            client.last_used_at_ms,
            scopes,
            client.kind,
            client.origin,
        ),
    )


def _delete(name: str, principal: str, connection: sqlite3.Connection) -> list[str]:
    """Delete in one transaction, so that the next client with this name inherits nothing."""
    owned = connection.execute("SELECT session_id FROM chat_sessions WHERE owner = ?", (principal,)).fetchall()
    connection.execute("DELETE FROM approver_keys WHERE name = ?", (name,))
    connection.execute("UPDATE chat_sessions SET owner = ? WHERE owner = ?", (_NEW_OWNER, principal))
    connection.execute(
        "DELETE FROM approvals WHERE CASE WHEN json_valid(request) THEN json_extract(request, '$.account') = :caller"
        " OR json_extract(request, '$.principal[0]') || ':' || json_extract(request, '$.principal[1]') = :caller END",
        {"caller": principal},
    )
    connection.execute("DELETE FROM approval_grants WHERE granted_by = ?", (principal,))
    connection.execute("UPDATE untrusted_sources SET accepted_by = NULL WHERE accepted_by = ?", (principal,))
    return [session_id for (session_id,) in owned]


def _set_last_used(name: str, now_ms: int, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE approver_keys SET last_used_at_ms = ? WHERE name = ?", (now_ms, name))
