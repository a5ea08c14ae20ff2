"""Tabs of the page in their order, with what remains of resources that end with the server."""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from agentcore.store.database.database import Database


class TabRow(NamedTuple):
    """One stored tab.

    `title` is the name given by the user, or empty. `last_seen` is JSON: what its resource last showed and how to open
    another one in its place; None if nothing can open one.
    """

    tab_id: str
    workspace_id: str
    resource_id: str
    title: str
    is_pinned: bool
    created_at_ms: int
    last_active_at_ms: int
    last_seen: str | None = None


class IconRow(NamedTuple):
    """The icon of a resource; its id is derived from its content."""

    icon_id: str
    mime: str
    data: bytes


class TabStore:
    """The tables of the tabs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> tuple[list[TabRow], list[IconRow]]:
        """Return the tabs in their order, and their icons."""
        return await self._database.read(_load)

    async def save(self, rows: Sequence[TabRow], icons: Mapping[str, IconRow]) -> None:
        """Store these tabs, in this order, with these icons, and delete all others."""
        await self._database.write(partial(_save, tuple(rows), dict(icons)))


def _load(connection: sqlite3.Connection) -> tuple[list[TabRow], list[IconRow]]:
    found = connection.execute(f"SELECT {', '.join(TabRow._fields)} FROM tabs ORDER BY place")  # noqa: S608 - names
    tabs = [TabRow(*row)._replace(is_pinned=bool(row[4])) for row in found]
    return tabs, [IconRow(*row) for row in connection.execute("SELECT icon_id, mime, data FROM tab_icons")]


def _save(rows: Sequence[TabRow], icons: Mapping[str, IconRow], connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM tabs")
    connection.executemany(
        "INSERT INTO tabs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(place, *row) for place, row in enumerate(rows)]
    )
    kept = {icon_id for (icon_id,) in connection.execute("SELECT icon_id FROM tab_icons")}
    connection.executemany("DELETE FROM tab_icons WHERE icon_id = ?", [(icon_id,) for icon_id in kept - icons.keys()])
    new = [icons[icon_id] for icon_id in icons.keys() - kept]
    connection.executemany("INSERT INTO tab_icons VALUES (?, ?, ?)", new)
