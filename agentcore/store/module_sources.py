"""What a person has put behind each module's name: a distribution, or a folder of local modules."""

import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

Verdict = Literal["chosen", "refused"]


class SourceRow(NamedTuple):
    """A person's word on one source of one module; of each module one is chosen at most.

    Args:
        source: The distribution's name in its normal form, or a folder.
        verdict: What was said.
        version: The version that was loaded last; empty: none.
        before: The version that was loaded before that one; empty: there was no other.
        since_ms: When `version` was loaded first, in milliseconds since 1970.
        decided_by: Who said it, or `LISTED`.
    """

    module: str
    source: str
    verdict: Verdict
    version: str
    before: str
    since_ms: int
    decided_by: str


LISTED = "listed"
"""Nobody was asked: the person had listed the module, and there was one distribution that brought it."""

_COLUMNS = ", ".join(SourceRow._fields)


class ModuleSources:
    """The table of the sources."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[SourceRow]:
        """All of them."""
        return await self._database.read(_load)

    async def save_decision(self, module: str, source: str, verdict: Verdict, by: str) -> None:
        """Keep a person's word: a source that is chosen takes the place of the one before."""
        await self._database.write(partial(_save_decision, module, source, verdict, by), is_durable=True)

    async def record_loaded_version(self, module: str, source: str, version: str) -> SourceRow:
        """Note the version that is loaded of a source; one of a module that has none is chosen with it, as `listed`.

        Not durable beyond this process: whoever lost it to a power cut is asked no more than before.
        """
        return await self._database.write(partial(_record_loaded_version, module, source, version))


def read_chosen(database: Path) -> dict[str, str]:
    """The source that is chosen for each module, whoever holds the state folder; none without a database."""
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
