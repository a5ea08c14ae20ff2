"""The source that the user has chosen for each module name: a distribution, or a folder of local modules."""

import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

Verdict = Literal["chosen", "refused"]


class SourceRow(NamedTuple):
    """A decision of the user about one source of a module; at most one source per module is chosen.

    Args:
        source: The distribution's normalised name, or a folder.
        verdict: The decision.
        version: The version loaded last; empty: none.
        before: The version loaded before that one; empty: none.
        since_ms: When `version` was first loaded, in milliseconds since 1970.
        decided_by: Who decided, or `LISTED`.
    """

    module: str
    source: str
    verdict: Verdict
    version: str
    before: str
    since_ms: int
    decided_by: str


LISTED = "listed"
"""The user was not asked: they had listed the module, and only one distribution provided it."""

_COLUMNS = ", ".join(SourceRow._fields)


class ModuleSources:
    """The table of module sources."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[SourceRow]:
        """Return all rows."""
        return await self._database.read(_load)

    async def save_decision(self, module: str, source: str, verdict: Verdict, by: str) -> None:
        """Store a decision; a chosen source replaces the previously chosen one."""
        await self._database.write(partial(_save_decision, module, source, verdict, by), is_durable=True)

    async def record_loaded_version(self, module: str, source: str, version: str) -> SourceRow:
        """Record the loaded version of a source; if the module has no chosen source, choose this one as `listed`.

        Not durable: losing it in a power cut causes no additional question to the user.
        """
        return await self._database.write(partial(_record_loaded_version, module, source, version))


def read_chosen(database: Path) -> dict[str, str]:
    """Return the chosen source of each module, even if a process holds the state folder; empty without a database."""
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT module, source FROM module_sources WHERE verdict = 'chosen'")
            return dict(found.fetchall())
    except sqlite3.Error:  # no file, or an older one without the table
        return {}


def _load(connection: sqlite3.Connection) -> list[SourceRow]:
    found = connection.execute(f"SELECT {_COLUMNS} FROM module_sources ORDER BY module, source")  # noqa: S608 - names
    return [SourceRow(*row) for row in found]


def _save_decision(module: str, source: str, verdict: Verdict, by: str, connection: sqlite3.Connection) -> None:
    if verdict == "chosen":
        connection.execute("DELETE FROM module_sources WHERE module = ? AND verdict = 'chosen'", (module,))
    connection.execute("DELETE FROM module_sources WHERE module = ? AND source = ?", (module, source))
    marks = ", ".join("?" * len(SourceRow._fields))
    row = SourceRow(module, source, verdict, "", "", _now_ms(), by)
    connection.execute(f"INSERT INTO module_sources ({_COLUMNS}) VALUES ({marks})", row)  # noqa: S608 - names


def _record_loaded_version(module: str, source: str, version: str, connection: sqlite3.Connection) -> SourceRow:
    query = f"SELECT {_COLUMNS} FROM module_sources WHERE module = ? AND verdict = 'chosen'"  # noqa: S608 - names
    if connection.execute(query, (module,)).fetchone() is None:
        _save_decision(module, source, "chosen", LISTED, connection)
    connection.execute(
        "UPDATE module_sources SET before = version, version = ?, since_ms = ?"
        " WHERE module = ? AND source = ? AND version != ?",
        (version, _now_ms(), module, source, version),
    )
    return SourceRow(*connection.execute(query, (module,)).fetchone())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
