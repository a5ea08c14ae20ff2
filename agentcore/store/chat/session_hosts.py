"""Hosts chosen for sessions, cached in memory for code that needs them on every call."""

import sqlite3
from functools import partial

from agentcore.store.database.database import Database


class SessionHosts:
    """Caches the sessions for which the user chose a host, from the first query on."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hosts: dict[str, str] | None = None
        self._changes = 0

    async def find_host(self, session_id: str) -> str | None:
        """Return the host of a session, as in `ChatSessionRow.host`."""
        while self._hosts is None:
            changes = self._changes
            found = await self._database.read(_load_hosts)
            if changes == self._changes:  # else the result may be outdated
                self._hosts = found
        return self._hosts.get(session_id)

    def set_host(self, session_id: str, host: str | None) -> None:
        """Update the cached host of a session; None also for a deleted session."""
        self._changes += 1
        if self._hosts is None:
            return
        if host is None:
            self._hosts.pop(session_id, None)
        else:
            self._hosts[session_id] = host

    async def reload_host(self, session_id: str) -> None:
        """Reload the stored host of a session into the cache."""
        self.set_host(session_id, await self._database.read(partial(_load_host, session_id)))


def _load_host(session_id: str, connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT host FROM chat_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return None if row is None else row[0]


def _load_hosts(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT session_id, host FROM chat_sessions WHERE host IS NOT NULL"))
