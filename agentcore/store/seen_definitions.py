"""The user's decisions on tool definitions of modules: those that they have seen and accepted or rejected."""

import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

Verdict = Literal["accepted", "refused"]


class SeenRow(NamedTuple):
    """A decision of the user on one definition; only the last of each verdict is stored per tool.

    Texts of instruction files are stored here too, by path, under a key that cannot be a module name.

    Args:
        definition: The whole definition, as it was shown.
        verdict: The decision.
    """

    module: str
    tool: str
    definition: str
    verdict: Verdict


class SeenDefinitions:
    """The table of seen definitions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[SeenRow]:
        """Return all rows."""
        return await self._database.read(_load)

    async def save_decision(self, module: str, definitions: Mapping[str, str], verdict: Verdict) -> None:
        """Store a decision on definitions, by tool name."""
        await self._database.write(partial(_save_decision, module, dict(definitions), verdict), is_durable=True)


def _load(connection: sqlite3.Connection) -> list[SeenRow]:
    return [
        SeenRow(*row) for row in connection.execute("SELECT module, tool, definition, verdict FROM seen_definitions")
    ]


def _save_decision(module: str, definitions: dict[str, str], verdict: Verdict, connection: sqlite3.Connection) -> None:
    rows = [(module, tool, definition, verdict) for tool, definition in definitions.items()]
    connection.executemany(
        "INSERT OR REPLACE INTO seen_definitions (module, tool, definition, verdict) VALUES (?, ?, ?, ?)", rows
    )
