"""What a person has said of the definitions that a module gives: which they have seen and accepted, which refused."""

import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Literal, NamedTuple

from agentcore.store.database.database import Database

Verdict = Literal["accepted", "refused"]


class SeenRow(NamedTuple):
    """A person's word on one definition; of each tool the last one of each kind counts.

    Texts of instruction files are here as well, under a key that no module's name can be, by their paths.

    Args:
        definition: The whole of it, as it was shown.
        verdict: What was said.
    """

    module: str
    tool: str
    definition: str
    verdict: Verdict


class SeenDefinitions:
    """The table of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[SeenRow]:
        """All of them."""
        return await self._database.read(_load)

    async def save_decision(self, module: str, definitions: Mapping[str, str], verdict: Verdict) -> None:
        """Keep a person's word on definitions, by the names of their tools."""
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
