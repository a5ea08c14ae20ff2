"""Going through the record from its first row and telling whether somebody changed it."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agentcore.store.database.file import open_connection
from agentcore.store.record.call_row import COLUMNS, GENESIS_HASH, CallRow, chain_row
from agentcore.store.record.group import read_head
from agentcore.store.state.errors import RecordUnreadableError


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found.

    Args:
        is_intact: Every row is there, and as it was written.
        rows: How many rows were found good, from the first.
        head: Hash of the last good row, in hexadecimal digits; who keeps it elsewhere can tell later whether the
            record still goes on from there.
        broken_seq: The first row that is missing or changed.
        reason: What is wrong there.
    """

    is_intact: bool
    rows: int
    head: str
    broken_seq: int | None = None
    reason: str = ""


def verify_record(path: Path) -> VerifyReport:
    """Verify the record in a database file, whether or not a process holds it; reads row by row and changes nothing.

    Raises:
        RecordUnreadableError: There is no such file, or it holds no record.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            # one snapshot, so that rows and head belong together while a server writes on
            connection.execute("BEGIN")
            return _verify(connection)
    except sqlite3.Error as exc:
        raise RecordUnreadableError(f"the record in {path} cannot be read: {exc}") from exc


def _verify(connection: sqlite3.Connection) -> VerifyReport:
    head_seq, head_hash = read_head(connection)
    stored = connection.execute(f"SELECT seq, hash, {COLUMNS} FROM record ORDER BY seq")  # noqa: S608
    report = _verify_chain(stored)
    if not report.is_intact:
        return report
    if report.rows < head_seq:
        reason = f"the rows {report.rows + 1} to {head_seq} at the end are missing"
        return VerifyReport(False, report.rows, report.head, report.rows + 1, reason)
    if (report.rows, report.head) != (head_seq, head_hash.hex()):
        reason = f"the record was rewritten: its kept end is row {head_seq} with another hash"
        return VerifyReport(False, report.rows, report.head, head_seq, reason)
    return report


def _verify_chain(stored: Iterable[tuple[object, ...]]) -> VerifyReport:
    rows = 0
    last_hash = GENESIS_HASH
    for seq, kept_hash, *fields in stored:
        expected = rows + 1
        if seq != expected:
            return VerifyReport(False, rows, last_hash.hex(), expected, f"row {expected} is missing; row {seq} follows")
        _, row_hash = chain_row(last_hash, CallRow(*fields))  # type: ignore[arg-type]
        if row_hash != kept_hash:
            reason = f"row {expected} was changed after it was written, or the row before it was exchanged"
            return VerifyReport(False, rows, last_hash.hex(), expected, reason)
        rows = expected
        last_hash = row_hash
    return VerifyReport(True, rows, last_hash.hex())
