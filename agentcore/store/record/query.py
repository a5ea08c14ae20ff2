"""Queries on the record."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from agentcore.store.database.file import open_connection
from agentcore.store.record.call_row import COLUMNS, CallRow, RecordedRow
from agentcore.store.state.errors import RecordUnreadableError

FAILED = "failed"
"""Filter value for every outcome of a call except `ok`; no error has this type."""

_COUNTED_ROWS = 5000

PAGE_ROWS = 1000
"""Maximum number of rows of a page."""


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Selects rows of the record; a field that is None does not filter.

    Args:
        tool: The tool's exact name.
        principal_id: The caller: a client's name, or the id within another kind of principal.
        outcome: `ok`, the type of an error, or `failed` for calls with any error.
        kind: `call`, `decision` or `notice`.
        text: Occurs in the tool's name, the call's id or the recorded arguments; ASCII case is ignored.
        call_id: The call, together with decisions about it.
        after_seq: Only rows newer than this one.
        before_seq: Only rows older than this one.
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
        """Return the number of matching rows."""
        condition, values = self._build_condition()
        (count,) = connection.execute(f"SELECT count(*) FROM record{condition}", values).fetchone()  # noqa: S608
        return int(count)

    def read_page(self, skip: int, limit: int, connection: sqlite3.Connection) -> list[RecordedRow]:
        """Return the newest matching rows, newest first, without the first `skip`."""
        condition, values = self._build_condition()
        query = f"SELECT seq, {COLUMNS} FROM record{condition} ORDER BY seq DESC LIMIT ? OFFSET ?"  # noqa: S608
        found = connection.execute(query, [*values, max(0, min(limit, PAGE_ROWS)), max(0, skip)])
        return [RecordedRow(seq, CallRow(*fields)) for seq, *fields in found]

    def read_page_and_count(
        self, skip: int, limit: int, connection: sqlite3.Connection
    ) -> tuple[list[RecordedRow], int]:
        """Return a page and the number of matching rows, both of the same moment."""
        (newest,) = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
        before_seq = newest + 1 if self.before_seq is None else min(self.before_seq, newest + 1)
        bounded = replace(self, before_seq=before_seq)  # rows are only ever added, with higher numbers
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
            parts.append("outcome <> 'ok'")  # redundant, so that SQLite uses the index of failures
        if self.text:
            parts.append(r"(tool LIKE ? ESCAPE '\' OR call_id LIKE ? ESCAPE '\' OR arguments LIKE ? ESCAPE '\')")
            values += [_like_pattern(self.text)] * 3
        for bound, operator in ((self.before_seq, "<"), (self.after_seq, ">")):
            if bound is not None:
                parts.append(f"seq {operator} ?")
                values.append(bound)
        return (" WHERE " + " AND ".join(parts) if parts else ""), values


def count_by_client(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return by MCP client its number of calls and the start of its last one; a call with an approval has two rows."""
    query = (
        "SELECT principal_id, count(DISTINCT call_id), max(time_ms) FROM record "
        "WHERE principal_kind = 'mcp' AND kind = 'call' GROUP BY principal_id"
    )
    return {client: (int(calls), int(last_ms)) for client, calls, last_ms in connection.execute(query)}


def count_tools_of_client(client: str, connection: sqlite3.Connection) -> dict[str, int]:
    """Return by tool how often an MCP client has called it, among the newest rows of the record."""
    query = (
        "SELECT tool, count(*) FROM (SELECT * FROM record ORDER BY seq DESC LIMIT ?) "
        "WHERE principal_kind = 'mcp' AND principal_id = ? AND kind = 'call' GROUP BY tool"
    )
    return {tool: int(calls) for tool, calls in connection.execute(query, (_COUNTED_ROWS, client))}


def read_record(path: Path, wanted: RecordFilter, limit: int) -> list[RecordedRow]:
    """Return the newest matching rows of a database file, newest first, even if a process has it open; read-only.

    Args:
        path: The file.
        wanted: The filter.
        limit: Maximum number of rows, up to `PAGE_ROWS`.
    Raises:
        RecordUnreadableError: The file does not exist or contains no record.
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
