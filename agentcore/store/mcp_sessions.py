"""Sessions of MCP clients, stored so that a client need not notice a restart of the server."""

import sqlite3
from functools import partial
from typing import NamedTuple

from agentcore.store.database.database import Database


class McpSessionRow(NamedTuple):
    """One MCP session.

    Args:
        principal: The principal that it belongs to, as in `Principal.name`.
        handshake: JSON text: the agreed protocol revision, and what the client declared about itself.
        narrowing: JSON text: the tools and the wait time that the connection chose for itself.
        last_used_at_ms: Milliseconds since 1970.
    """

    session_id: str
    principal: str
    handshake: str
    narrowing: str
    last_used_at_ms: int


class McpSessionStore:
    """The table of MCP sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, row: McpSessionRow) -> None:
        """Store the current state of a session."""
        await self._database.write(partial(_save, row))

    async def find(self, session_id: str, principal: str) -> McpSessionRow | None:
        """Return the session with this id if it belongs to the principal, else None."""
        return await self._database.read(partial(_find, session_id, principal))

    async def load_all(self) -> list[McpSessionRow]:
        """Return all stored sessions, most recently used first."""
        return await self._database.read(_load_all)

    async def delete(self, session_id: str) -> None:
        """Delete a session."""
        await self._database.write(partial(_delete, session_id))

    async def delete_unused(self, before_ms: int) -> list[str]:
        """Delete sessions last used before a time that have no waiting call; return their ids."""
        return await self._database.write(partial(_delete_unused, before_ms))


def _save(row: McpSessionRow, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO mcp_sessions VALUES (?, ?, ?, ?, ?)", row)


def _find(session_id: str, principal: str, connection: sqlite3.Connection) -> McpSessionRow | None:
    query = f"SELECT {', '.join(McpSessionRow._fields)} FROM mcp_sessions WHERE session_id = ? AND principal = ?"  # noqa: S608 - names
    row = connection.execute(query, (session_id, principal)).fetchone()
    return None if row is None else McpSessionRow(*row)


def _load_all(connection: sqlite3.Connection) -> list[McpSessionRow]:
    query = f"SELECT {', '.join(McpSessionRow._fields)} FROM mcp_sessions ORDER BY last_used_at_ms DESC"  # noqa: S608 - names
    return [McpSessionRow(*row) for row in connection.execute(query)]


def _delete(session_id: str, connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM mcp_sessions WHERE session_id = ?", (session_id,))


def _delete_unused(before_ms: int, connection: sqlite3.Connection) -> list[str]:
    statement = (
        "DELETE FROM mcp_sessions WHERE last_used_at_ms < ?"
        " AND session_id NOT IN (SELECT session_id FROM approvals WHERE verdict IS NULL) RETURNING session_id"
    )
    found = connection.execute(statement, (before_ms,))
    return [session_id for (session_id,) in found.fetchall()]
