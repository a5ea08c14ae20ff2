"""Verification of the record: reads it from its first row and detects changes."""

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
    """The result of a verification.

    Args:
        is_intact: True if no row is missing or changed.
        rows: Number of valid rows, counted from the first.
        head: Hash of the last valid row, in hexadecimal digits; a copy kept elsewhere can prove later that the record
            still continues from there.
        broken_seq: The first missing or changed row.
        reason: What is wrong with that row.
    """

    is_intact: bool
    rows: int
    head: str
    broken_seq: int | None = None
    reason: str = ""


def verify_record(path: Path) -> VerifyReport:
    """Verify the record in a database file, even if a process has it open; reads row by row and changes nothing.

    Raises:
        RecordUnreadableError: The file does not exist or contains no record.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            # one snapshot, so that rows and head match while a server writes
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
