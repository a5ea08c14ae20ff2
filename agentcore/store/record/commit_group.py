"""A group of record changes committed together: rows chained to the end, and the calls that are open now."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from itertools import chain as concatenated

from agentcore.late_dataclasses import dataclass
from agentcore.store.record.call_row import COLUMNS, GENESIS_HASH, CallRow, chain_row, make_notice_row

OpenKey = tuple[str, int]
"""A started call: its id and `time_ms`, so that a rejected call with a repeated id does not end the original."""

_WIDTH = len(CallRow._fields) + 2
# many rows per statement: the thread releases the GIL at each statement, and with a busy event loop waits up to 5 ms to
# get it back; measured with such a loop, 500 rows took 75 ms this way and more than 500 ms with executemany
_ROWS_A_STATEMENT = (256, 64, 16, 4, 1)
_VALUES = f"({', '.join('?' * _WIDTH)})"
_INSERTS = {
    count: f"INSERT INTO record (seq, {COLUMNS}, hash) VALUES {', '.join([_VALUES] * count)}"  # noqa: S608
    for count in _ROWS_A_STATEMENT
}
_SET_HEAD = (
    "INSERT INTO record_head VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"
)

Stored = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RecordGroup:
    """The content of one commit: finished rows, calls that started and still run, and recorded calls that ended."""

    rows: Sequence[CallRow]
    begun: Sequence[CallRow] = ()
    ended: Sequence[OpenKey] = ()

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the group to the database, inside a transaction opened by the caller.

        Raises:
            sqlite3.Error: The transaction must be rolled back.
            TypeError: A field has a value of the wrong type (see `CallRow.is_well_typed`).
        """
        seq, last_hash = read_head(connection)
        stored: list[Stored] = []
        for row in self.rows:
            seq += 1
            row, last_hash = chain_row(last_hash, row)  # noqa: PLW2901 - the row as it can be stored
            stored.append((seq, *row, last_hash))
        _insert_rows(connection, stored)
        # even if nothing was added: a durable commit has to write something in order to wait for the disk
        connection.execute(_SET_HEAD, (seq, last_hash))
        if self.ended:
            keys = [(_encode_key(call_id), time_ms) for call_id, time_ms in self.ended]
            connection.executemany("DELETE FROM open_calls WHERE call_id = ? AND time_ms = ?", keys)
        if self.begun:
            notes = [(_encode_key(row.call_id), row.time_ms, json.dumps(row._asdict())) for row in self.begun]
            connection.executemany("INSERT OR REPLACE INTO open_calls VALUES (?, ?, ?)", notes)


def read_head(connection: sqlite3.Connection) -> tuple[int, bytes]:
    """Return the number and the hash of the last row; 0 and the genesis hash if the record is empty."""
    head: tuple[int, bytes] | None = connection.execute("SELECT seq, hash FROM record_head").fetchone()
    return head or (0, GENESIS_HASH)


def interrupt_open_calls(
    connection: sqlite3.Connection, goes_on: Callable[[CallRow], bool] = lambda row: False
) -> tuple[list[CallRow], list[CallRow]]:
    """Close the calls that the last process left open: each becomes a row with the outcome `interrupted`.

    Args:
        goes_on: Returns True if a call may continue without that process; such a call stays open.
    Returns:
        The calls that ended, and those that stay open.
    """
    left: list[CallRow] = []
    unreadable: list[CallRow] = []
    for key, text in connection.execute("SELECT call_id, row FROM open_calls ORDER BY time_ms").fetchall():
        row = _parse_open_call(text)
        if row is None:
            unreadable.append(make_notice_row("open_call_unreadable", call_id=key))
            connection.execute("DELETE FROM open_calls WHERE call_id = ?", (key,))
        else:
            left.append(row)
    kept = [row for row in left if goes_on(row)]
    ended = [row._replace(outcome="interrupted", duration_ms=None) for row in left if row not in kept]
    if ended or unreadable:
        RecordGroup([*ended, *unreadable], ended=[(row.call_id, row.time_ms) for row in ended]).write(connection)
    return ended, kept


def _parse_open_call(text: str) -> CallRow | None:
    """Return the row of an open call, or None if it is damaged."""
    try:
        row = CallRow(**json.loads(text))
    except (ValueError, TypeError):
        return None
    return row if row.is_well_typed() else None


def _encode_key(call_id: str) -> str:
    """Encode an id as a key; any text works, even one that UTF-8 cannot encode."""
    return json.dumps(call_id)


def _insert_rows(connection: sqlite3.Connection, stored: Sequence[Stored]) -> None:
    position = 0
    for count, statement in _INSERTS.items():
        while len(stored) - position >= count:
            connection.execute(statement, tuple(concatenated.from_iterable(stored[position : position + count])))
            position += count
