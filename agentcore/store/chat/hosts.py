"""On which host a session acts, for whoever asks it of every call: in memory, for those for which one was chosen."""

import sqlite3
from functools import partial

from agentcore.store.database.database import Database


class SessionHosts:
    """Knows the sessions for which a person chose a host, from when somebody first asks."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._hosts: dict[str, str] | None = None
        self._changes = 0

    async def find_host(self, session_id: str) -> str | None:
        """The host of a session, as `ChatSessionRow.host`."""
        while self._hosts is None:
            changes = self._changes
            found = await self._database.read(_load_hosts)
            if changes == self._changes:  # else what was read may be old by now
                self._hosts = found
        return self._hosts.get(session_id)

    def set_host(self, session_id: str, host: str | None) -> None:
        """This is stored of a session; None also of one that was deleted."""
        self._changes += 1
        if self._hosts is None:
            return
        if host is None:
            self._hosts.pop(session_id, None)
        else:
            self._hosts[session_id] = host

    async def reload_host(self, session_id: str) -> None:
        """Another host was stored of a session, if there is such a session."""
        self.set_host(session_id, await self._database.read(partial(_load_host, session_id)))


def _load_host(session_id: str, connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT host FROM chat_sessions WHERE session_id = ?", (session_id,)).fetchone()
    return None if row is None else row[0]


def _load_hosts(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT session_id, host FROM chat_sessions WHERE host IS NOT NULL"))
