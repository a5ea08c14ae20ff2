"""The tabs of the page, in their order."""

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from agentcore.store.database import Database


class TabRow(NamedTuple):
    """One tab as it is kept; `title` is the name that a person gave it, empty where nobody did."""

    tab_id: str
    workspace_id: str
    resource_id: str
    title: str
    is_pinned: bool
    created_at_ms: int
    last_active_at_ms: int


class TabStore:
    """The table of the tabs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[TabRow]:
        """The tabs in their order."""
        return await self._database.read(_load)

    async def save(self, rows: Sequence[TabRow]) -> None:
        """Keep these tabs, in this order, and no others."""
        await self._database.write(partial(_save, tuple(rows)))


def _load(connection: sqlite3.Connection) -> list[TabRow]:
    found = connection.execute(f"SELECT {', '.join(TabRow._fields)} FROM tabs ORDER BY place")  # noqa: S608 - names
    return [TabRow(*row)._replace(is_pinned=bool(row[4])) for row in found]


def _save(rows: Sequence[TabRow], connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM tabs")
    connection.executemany(
        "INSERT INTO tabs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(place, *row) for place, row in enumerate(rows)]
    )
