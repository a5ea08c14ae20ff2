"""Looking things up in the record."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from agentcore.store.database.file import open_connection
from agentcore.store.record.call_row import COLUMNS, CallRow, RecordedRow
from agentcore.store.state.errors import RecordUnreadableError

FAILED = "failed"
"""Stands for every outcome of a call that is not `ok`; no error has this type."""

PAGE_ROWS = 1000
"""The most rows that one page holds."""


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which rows are wanted; what is None does not matter.

    Args:
        tool: The tool's exact name.
        principal_id: Who called: the name of a client, or which one else of its kind.
        outcome: `ok`, the type of an error, or `failed` for calls with any error.
        kind: `call`, `decision` or `notice`.
        text: Stands in the tool's name, the call's id or the recorded arguments; case does not matter in ASCII.
        call_id: The call, with the decisions about it.
        after_seq: Only rows that are newer than this one.
        before_seq: Only rows that are older than this one.
    """

    tool: str | None = None
    module: str | None = None
    session_id: str | None = None
    principal_id: str | None = None
    outcome: str | None = None
    kind: str | None = None
    text: str | None = None
    call_id: str | None = None
    parent_call_id: str | None = None
    after_seq: int | None = None
    before_seq: int | None = None

    def count_rows(self, connection: sqlite3.Connection) -> int:
        """How many rows match."""
        condition, values = self._build_condition()
        (count,) = connection.execute(f"SELECT count(*) FROM record{condition}", values).fetchone()  # noqa: S608
        return int(count)

    def read_page(self, skip: int, limit: int, connection: sqlite3.Connection) -> list[RecordedRow]:
        """The newest matching rows, newest first, but for the first `skip`."""
        condition, values = self._build_condition()
        query = f"SELECT seq, {COLUMNS} FROM record{condition} ORDER BY seq DESC LIMIT ? OFFSET ?"  # noqa: S608
        found = connection.execute(query, [*values, max(0, min(limit, PAGE_ROWS)), max(0, skip)])
        return [RecordedRow(seq, CallRow(*fields)) for seq, *fields in found]

    def read_page_and_count(
        self, skip: int, limit: int, connection: sqlite3.Connection
    ) -> tuple[list[RecordedRow], int]:
        """A page, and how many rows match, of the same moment."""
        (newest,) = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
        before_seq = newest + 1 if self.before_seq is None else min(self.before_seq, newest + 1)
        bounded = replace(self, before_seq=before_seq)  # rows are only ever added, above these
        return bounded.read_page(skip, limit, connection), bounded.count_rows(connection)

    def _build_condition(self) -> tuple[str, list[object]]:
        parts: list[str] = []
        values: list[object] = []
        if self.outcome == FAILED:
            parts.append("outcome <> 'ok' AND kind = 'call'")
        for column in ("tool", "module", "session_id", "principal_id", "outcome", "kind", "call_id", "parent_call_id"):
            wanted = getattr(self, column)
            if wanted is not None and (column, wanted) != ("outcome", FAILED):
                parts.append(f"{column} = ?")
                values.append(_to_valid_utf8(wanted))
        if self.outcome not in (None, "ok", FAILED):
            parts.append("outcome <> 'ok'")  # said in full, so that the index of failures is used
        if self.text:
            parts.append(r"(tool LIKE ? ESCAPE '\' OR call_id LIKE ? ESCAPE '\' OR arguments LIKE ? ESCAPE '\')")
            values += [_like_pattern(self.text)] * 3
        for bound, operator in ((self.before_seq, "<"), (self.after_seq, ">")):
            if bound is not None:
                parts.append(f"seq {operator} ?")
                values.append(bound)
        return (" WHERE " + " AND ".join(parts) if parts else ""), values


def count_by_client(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """How many calls each client of MCP has made, and when the last began; one that was asked about has two rows."""
    query = (
        "SELECT principal_id, count(DISTINCT call_id), max(time_ms) FROM record "
        "WHERE principal_kind = 'mcp' AND kind = 'call' GROUP BY principal_id"
    )
    return {client: (int(calls), int(last_ms)) for client, calls, last_ms in connection.execute(query)}


def read_record(path: Path, wanted: RecordFilter, limit: int) -> list[RecordedRow]:
    """The newest rows that match in a database file, newest first, whether or not a process holds it; changes nothing.

    Args:
        path: The file.
        wanted: Which rows.
        limit: At most so many, up to `PAGE_ROWS`.
    Raises:
        RecordUnreadableError: There is no such file, or it holds no record.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            return wanted.read_page(0, limit, connection)
    except sqlite3.Error as exc:
        raise RecordUnreadableError(f"the record in {path} cannot be read: {exc}") from exc


def _like_pattern(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{_to_valid_utf8(escaped)}%"


def _to_valid_utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
