"""Whose a session is, for whoever asks it of every event: in memory, for the owners that somebody watches."""

import sqlite3
from collections.abc import Callable
from functools import partial

from agentcore.store.database.database import Database


class SessionOwners:
    """Knows the sessions of watched owners, those that were deleted meanwhile among them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owners: dict[str, str] = {}
        self._watched: set[str] = set()
        self._changes = 0

    async def watch_owner(self, owner: str) -> Callable[[str], bool]:
        """Tells from now on, and without waiting, whether a session is an owner's."""
        while owner not in self._watched:
            changes = self._changes
            stored = await self._database.read(partial(_sessions_of, owner))
            if changes == self._changes:  # else there may be others by now
                self._watched.add(owner)
                self._owners.update(dict.fromkeys(stored, owner))
        return lambda session_id: self._owners.get(session_id) == owner

    def add_session(self, session_id: str, owner: str) -> None:
        """A session was made."""
        if owner in self._watched:
            self._owners[session_id] = owner
        else:
            self._changes += 1
            self._owners.pop(session_id, None)

    def remove_owner(self, owner: str) -> None:
        """An owner has none any more; whoever has the name next begins with none."""
        self._changes += 1
        self._watched.discard(owner)
        self._owners = {session_id: other for session_id, other in self._owners.items() if other != owner}


def _sessions_of(owner: str, connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT session_id FROM chat_sessions WHERE owner = ?", (owner,))]
