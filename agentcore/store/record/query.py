"""Queries on the record: on the newest rows, which are in the database, and on the older ones in files."""

import json
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from agentcore.late_dataclasses import dataclass
from agentcore.store.database.database_file import open_connection
from agentcore.store.record.call_row import COLUMNS, CallRow, RecordedRow
from agentcore.store.record.segments import (
    Segment,
    SegmentBrokenError,
    read_lines,
    read_segments,
    segments_folder,
)
from agentcore.store.state.state_errors import RecordUnreadableError

FAILED = "failed"
"""Filter value for every outcome of a call except `ok`; no error has this type."""

_COUNTED_ROWS = 5000

PAGE_ROWS = 1000
"""Maximum number of rows of a page."""

SEGMENTS_SEARCHED = 8
"""Files that one request of a client searches, at some 0.2 s each; the answer says where to go on."""

_EQUALITIES = ("tool", "module", "session_id", "principal_id", "outcome", "kind", "call_id", "parent_call_id")


class ClosedSegments(NamedTuple):
    """All closed segments, the oldest first, and the folder of their files."""

    folder: Path
    segments: Sequence[Segment]


class RecordPage(NamedTuple):
    """A page of the record, newest first.

    Args:
        next_seq: The next page has the rows before this one; None: there are no more.
        total: Number of matching rows, if it was asked for.
        total_since: The oldest row that `total` takes into account, if there are older ones; None: there are none.
    """

    rows: list[RecordedRow]
    next_seq: int | None
    total: int | None = None
    total_since: int | None = None


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

    @property
    def selects_all(self) -> bool:
        """True if nothing but the numbers of rows selects."""
        return replace(self, after_seq=None, before_seq=None) == RecordFilter()

    def search_segment(self, folder: Path, segment: Segment, limit: int) -> tuple[list[RecordedRow], int]:
        """Return the newest matching rows of a closed segment, newest first, and how many match in all.

        Raises:
            SegmentBrokenError: Its file is missing or damaged.
        """
        first = max(segment.first_seq, (self.after_seq or 0) + 1)
        last = segment.last_seq if self.before_seq is None else min(segment.last_seq, self.before_seq - 1)
        if self.selects_all:
            newest_only = max(first, last - limit + 1)
            matching = [line for line in read_lines(folder, segment) if newest_only <= line.seq <= last]
            return [RecordedRow(line.seq, line.parse_row()) for line in reversed(matching)], max(0, last - first + 1)
        needles = self._needles()
        text = self.text.lower() if self.text else None
        newest: deque[RecordedRow] = deque(maxlen=limit)
        count = 0
        for line in read_lines(folder, segment):
            if first <= line.seq <= last and all(needle in line.hashed for needle in needles):
                row = line.parse_row()
                if self._matches(row, text):
                    newest.append(RecordedRow(line.seq, row))
                    count += 1
        return list(newest)[::-1], count

    def _needles(self) -> list[bytes]:
        """Return what occurs in the stored text of every matching row: most others need not be parsed."""
        wanted = [getattr(self, column) for column in _EQUALITIES]
        return [json.dumps(value).encode("ascii") for value in wanted if value not in (None, FAILED)]

    def _matches(self, row: CallRow, text: str | None) -> bool:
        if self.outcome == FAILED and (row.outcome == "ok" or row.kind != "call"):
            return False
        for column in _EQUALITIES:
            wanted = getattr(self, column)
            if wanted is not None and (column, wanted) != ("outcome", FAILED) and getattr(row, column) != wanted:
                return False
        return text is None or any(text in value.lower() for value in (row.tool, row.call_id, row.arguments))

    def _build_condition(self) -> tuple[str, list[object]]:
        parts: list[str] = []
        values: list[object] = []
        if self.outcome == FAILED:
            parts.append("outcome <> 'ok' AND kind = 'call'")
        for column in _EQUALITIES:
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


def read_live_page(
    wanted: RecordFilter, skip: int, limit: int, counted: RecordFilter | None, connection: sqlite3.Connection
) -> RecordPage:
    """Return a page of the rows in the database; `next_seq` goes on with the files if there are any.

    Args:
        counted: Selects the rows that `total` counts; None: none are counted.
    """
    connection.execute("BEGIN")  # one snapshot: rows are moved to files meanwhile
    try:
        rows = wanted.read_page(skip, limit, connection)
        oldest_live, oldest_kept, newest = _read_ends(connection)
        total = total_since = None
        if counted is not None and counted.selects_all:
            before = newest + 1 if counted.before_seq is None else min(counted.before_seq, newest + 1)
            total = max(0, before - max(oldest_kept, (counted.after_seq or 0) + 1))
        elif counted is not None:
            total = counted.count_rows(connection)
            total_since = oldest_live if oldest_kept < oldest_live else None
    finally:
        connection.execute("ROLLBACK")
    if len(rows) == limit and rows:
        return RecordPage(rows, rows[-1].seq, total, total_since)
    has_older = oldest_kept < oldest_live and (wanted.after_seq or 0) + 1 < oldest_live
    return RecordPage(rows, oldest_live if has_older else None, total, total_since)


def read_closed_page(
    wanted: RecordFilter, skip: int, limit: int, closed: ClosedSegments, most_segments: int | None
) -> RecordPage:
    """Return a page of the rows in files; runs in a thread.

    Args:
        most_segments: How many files are searched; None: as many as it takes.
    Raises:
        SegmentBrokenError: A file is missing or damaged.
    """
    rows: list[RecordedRow] = []
    searched = 0
    for segment in reversed(closed.segments):
        if segment.deleted_at_ms is not None or segment.last_seq <= (wanted.after_seq or 0):
            break
        if wanted.before_seq is not None and segment.first_seq >= wanted.before_seq:
            continue
        if searched == most_segments:
            return RecordPage(rows, segment.last_seq + 1)
        found, count = wanted.search_segment(closed.folder, segment, skip + limit - len(rows))
        searched += 1
        rows += found[skip:]
        skip = max(0, skip - count)
        if len(rows) == limit:
            return RecordPage(rows, rows[-1].seq if rows else None)
    return RecordPage(rows, None)


def _read_ends(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the oldest row in the database, the oldest that is kept at all, and the newest; 1, 1, 0 if empty."""
    oldest_live, newest = connection.execute("SELECT min(seq), max(seq) FROM record").fetchone()
    oldest_file = next((each.first_seq for each in read_segments(connection) if each.deleted_at_ms is None), None)
    oldest_live = oldest_live or 1
    return oldest_live, min(oldest_live, oldest_file or oldest_live), newest or 0


def read_newest_seq(connection: sqlite3.Connection) -> int:
    """Return the number of the newest row; 0 if there is none."""
    (newest,) = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
    return int(newest)


def count_by_client(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return by MCP client its number of calls and the start of its last one; a call with an approval has two rows."""
    query = (
        "SELECT client, sum(calls), max(last_ms) FROM ("
        "SELECT client, calls, last_ms FROM record_clients UNION ALL "
        "SELECT principal_id, count(DISTINCT call_id), max(time_ms) FROM record "
        "WHERE principal_kind = 'mcp' AND kind = 'call' "
        "AND seq > (SELECT coalesce(max(last_seq), 0) FROM record_segments) GROUP BY principal_id) GROUP BY client"
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
        RecordUnreadableError: The file does not exist or contains no record, or one of its older parts cannot be read.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            live = read_live_page(wanted, 0, limit, None, connection)
            if len(live.rows) == limit or live.next_seq is None:
                return live.rows
            before_seq = min(live.next_seq, wanted.before_seq or live.next_seq)
            older = replace(wanted, before_seq=before_seq)
            rest = limit - len(live.rows)
            closed = ClosedSegments(segments_folder(path), read_segments(connection))
            return live.rows + read_closed_page(older, 0, rest, closed, None).rows
    except (sqlite3.Error, SegmentBrokenError) as exc:
        raise RecordUnreadableError(f"the record in {path} cannot be read: {exc}") from exc


def export_rows(path: Path) -> Iterator[RecordedRow]:
    """Read all rows of a database file and of the files beside it, the oldest first; read-only.

    Raises:
        RecordUnreadableError: See `read_record`.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            connection.execute("BEGIN")
            segments = read_segments(connection)
            for segment in segments:
                if segment.deleted_at_ms is None:
                    for line in read_lines(segments_folder(path), segment):
                        yield RecordedRow(line.seq, line.parse_row())
            after = segments[-1].last_seq if segments else 0
            query = f"SELECT seq, {COLUMNS} FROM record WHERE seq > ? ORDER BY seq"  # noqa: S608
            for seq, *fields in connection.execute(query, (after,)):
                yield RecordedRow(seq, CallRow(*fields))
    except (sqlite3.Error, SegmentBrokenError) as exc:
        raise RecordUnreadableError(f"the record in {path} cannot be read: {exc}") from exc


def _like_pattern(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    return f"%{_to_valid_utf8(escaped)}%"


def _to_valid_utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
