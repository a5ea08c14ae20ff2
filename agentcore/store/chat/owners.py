"""Owners of sessions, cached in memory for code that needs them on every event."""

import sqlite3
from collections.abc import Callable
from functools import partial

from agentcore.store.database.database import Database


class SessionOwners:
    """Caches the sessions of watched owners, including sessions deleted since then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owners: dict[str, str] = {}
        self._watched: set[str] = set()
        self._changes = 0

    async def watch_owner(self, owner: str) -> Callable[[str], bool]:
        """Return a non-blocking function that tells, from now on, if a session belongs to the owner."""
        while owner not in self._watched:
            changes = self._changes
            stored = await self._database.read(partial(_sessions_of, owner))
            if changes == self._changes:  # else there may be new ones by now
                self._watched.add(owner)
                self._owners.update(dict.fromkeys(stored, owner))
        return lambda session_id: self._owners.get(session_id) == owner

    def add_session(self, session_id: str, owner: str) -> None:
        """Register a new session."""
        if owner in self._watched:
            self._owners[session_id] = owner
        else:
            self._changes += 1
            self._owners.pop(session_id, None)

    def remove_owner(self, owner: str) -> None:
        """Drop an owner's sessions, so that the next owner of the same name starts with none."""
        self._changes += 1
        self._watched.discard(owner)
        self._owners = {session_id: other for session_id, other in self._owners.items() if other != owner}


def _sessions_of(owner: str, connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT session_id FROM chat_sessions WHERE owner = ?", (owner,))]
