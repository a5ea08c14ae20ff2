"""The next index of the resources of each session and type, so that no resource id is used twice."""

import sqlite3
from functools import partial

from agentcore.store.database.database import Database


class ResourceIndexStore:
    """The table of the next indexes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> dict[tuple[str, str], int]:
        """Return the next index by session and type."""
        return await self._database.read(_load)

    async def save(self, next_indexes: dict[tuple[str, str], int]) -> None:
        """Store these indexes; one that is lower than the stored one is ignored."""
        await self._database.write(partial(_save, dict(next_indexes)))


def _load(connection: sqlite3.Connection) -> dict[tuple[str, str], int]:
    rows = connection.execute("SELECT session_id, resource_type, next_index FROM resource_indexes")
    return {(session_id, resource_type): index for session_id, resource_type, index in rows}


def _save(next_indexes: dict[tuple[str, str], int], connection: sqlite3.Connection) -> None:
    connection.executemany(
        "INSERT INTO resource_indexes VALUES (?, ?, ?) ON CONFLICT (session_id, resource_type)"
        " DO UPDATE SET next_index = max(next_index, excluded.next_index)",
        [(*series, index) for series, index in next_indexes.items()],
    )
