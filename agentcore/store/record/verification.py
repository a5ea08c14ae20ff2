"""Verification of the record: reads it from its first row and detects changes."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentcore.late_dataclasses import dataclass
from agentcore.store.database.database_file import open_connection
from agentcore.store.record.call_row import COLUMNS, GENESIS_HASH, CallRow, chain_row
from agentcore.store.record.commit_group import read_head
from agentcore.store.record.segments import (
    Segment,
    SegmentBrokenError,
    read_segments,
    segments_folder,
    verify_segment,
)
from agentcore.store.state.private_file import read_private_file, write_private_file
from agentcore.store.state.state_errors import RecordUnreadableError, StateDirError

DELETION_NOTICE = "record_segment_deleted"
"""Outcome of the notice that stands for rows deleted because the record had reached a limit."""

_RESUME_FILE = "verification.json"
_RESUME_BYTES = 1 << 16
_RESUME_SECONDS = 86_400
_DELETIONS_KEPT = 16
_PROGRESS_ROWS = 1000

Progress = Callable[[int, int], None]
"""Receives the number of the row up to which the record was verified, and that of the last row."""


@dataclass(frozen=True, slots=True)
class SegmentHead:
    """The hash at the end of a closed segment: kept elsewhere, it shows later whether the rows up to there changed."""

    last_seq: int
    head: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of a verification.

    Args:
        is_intact: True if no row is missing or changed.
        rows: Number of the last valid row.
        head: Hash of the last valid row, in hexadecimal digits; a copy kept elsewhere can prove later that the record
            still continues from there.
        broken_seq: The first missing or changed row; of a closed segment, the first of the up to 1,000 rows among which
            it is.
        reason: What is wrong with that row.
        deleted: Number of rows at the beginning that were deleted when the record reached a limit.
        resumed_after: The row after which this verification went on with an interrupted one; 0: it began at the
            beginning.
        segments: The heads of the closed segments that are intact.
    """

    is_intact: bool
    rows: int
    head: str
    broken_seq: int | None = None
    reason: str = ""
    deleted: int = 0
    resumed_after: int = 0
    segments: tuple[SegmentHead, ...] = ()


def verify_record(path: Path, progress: Progress = lambda row, last: None, *, may_resume: bool = False) -> VerifyReport:
    """Verify the record in a database file and the files beside it, even if a process has it open.

    Reads row by row, and changes nothing.

    Args:
        may_resume: Note after each closed segment how far it came, and go on from there if the last verification was
            interrupted within a day.
    Raises:
        RecordUnreadableError: The file does not exist or contains no record.
    """
    try:
        with closing(open_connection(path, is_read_only=True)) as connection:
            # one snapshot, so that rows and head match while a server writes
            connection.execute("BEGIN")
            return _Verification(connection, path, progress, may_resume=may_resume).run()
    except sqlite3.Error as exc:
        raise RecordUnreadableError(f"the record in {path} cannot be read: {exc}") from exc


class _Verification:
    """One run over the segments and then over the rows in the database."""

    def __init__(self, connection: sqlite3.Connection, path: Path, progress: Progress, *, may_resume: bool) -> None:
        self._connection = connection
        self._path = path
        self._folder = segments_folder(path)
        self._progress = progress
        self._may_resume = may_resume
        self._segments = read_segments(connection)
        self._head_seq, self._head_hash = read_head(connection)
        self._row = 0
        self._heads: list[SegmentHead] = []
        self._deletions: set[tuple[int, str]] = set()
        """Last rows and heads of the segments that, as notices in the record say, were deleted."""

    def run(self) -> VerifyReport:
        deleted = [segment for segment in self._segments if segment.deleted_at_ms is not None]
        report = VerifyReport(True, 0, GENESIS_HASH.hex())
        if deleted:
            last = deleted[-1]
            report = replace(report, rows=last.last_seq, head=last.head.hex(), deleted=last.last_seq)
        report = self._verify_segments(report, self._segments[len(deleted) :])
        if report.is_intact:
            report = self._verify_live_rows(report)
        if report.is_intact and deleted and (deleted[-1].last_seq, deleted[-1].head.hex()) not in self._deletions:
            reason = f"the rows 1 to {deleted[-1].last_seq} are missing, and no notice in the record says why"
            report = replace(report, is_intact=False, broken_seq=1, reason=reason)
        if self._may_resume:
            with suppress(OSError):
                (self._folder / _RESUME_FILE).unlink(missing_ok=True)
        return replace(report, segments=tuple(self._heads))

    # -- closed segments ---------------------------------------------------------------------------------------

    def _verify_segments(self, report: VerifyReport, segments: Sequence[Segment]) -> VerifyReport:
        resume_after = self._read_progress(segments)
        for segment in segments:
            if (segment.first_seq, segment.previous_hash.hex()) != (report.rows + 1, report.head):
                reason = f"the segment with the rows from {segment.first_seq} on does not continue the one before"
                return replace(report, is_intact=False, broken_seq=report.rows + 1, reason=reason)
            self._row = report.rows
            if segment.last_seq > resume_after:
                try:
                    self._verify_file(segment)
                except SegmentBrokenError as exc:
                    return replace(report, is_intact=False, broken_seq=exc.first_seq, reason=str(exc))
            report = replace(report, rows=segment.last_seq, head=segment.head.hex(), resumed_after=resume_after)
            self._heads.append(SegmentHead(segment.last_seq, report.head))
            if segment.last_seq > resume_after:
                self._write_progress(report)
        return report

    def _verify_file(self, segment: Segment) -> None:
        try:
            for line in verify_segment(self._folder, segment, self._add_progress):
                self._note_deletion(line.parse_row())
        except SegmentBrokenError:
            if self._was_deleted_meanwhile(segment):
                message = (
                    f"the rows up to {segment.last_seq} were deleted meanwhile, because the record is full; try again"
                )
                raise RecordUnreadableError(message) from None
            raise

    def _add_progress(self, rows: int) -> None:
        self._row += rows
        self._progress(self._row, self._head_seq)

    def _note_deletion(self, row: CallRow) -> None:
        """Note what a notice says, if its text is what its hash covers."""
        if row.outcome != DELETION_NOTICE or row.kind != "notice":
            return
        if hashlib.sha256(row.arguments.encode()).hexdigest() == row.arguments_digest:
            details = json.loads(row.arguments)
            self._deletions.add((details["last_seq"], details["head"]))

    def _was_deleted_meanwhile(self, segment: Segment) -> bool:
        with closing(open_connection(self._path, is_read_only=True)) as connection:
            now = {each.number: each for each in read_segments(connection)}
        return now[segment.number].deleted_at_ms is not None

    # -- an interrupted run ------------------------------------------------------------------------------------

    def _read_progress(self, segments: Sequence[Segment]) -> int:
        """Return the row after which an interrupted verification goes on; 0: there is none."""
        if not self._may_resume:
            return 0
        try:
            kept = json.loads(read_private_file(self._folder / _RESUME_FILE, _RESUME_BYTES) or b"")
            is_recent = 0 <= time.time() - kept["time_s"] < _RESUME_SECONDS
            is_known = any((each.last_seq, each.head.hex()) == (kept["last_seq"], kept["head"]) for each in segments)
            if not is_recent or not is_known:
                return 0
            self._deletions.update((seq, head) for seq, head in kept["deletions"])
            return int(kept["last_seq"])
        except (OSError, StateDirError, ValueError, KeyError, TypeError):
            return 0

    def _write_progress(self, report: VerifyReport) -> None:
        if self._may_resume:
            kept = {
                "last_seq": report.rows,
                "head": report.head,
                "time_s": time.time(),
                "deletions": sorted(self._deletions)[-_DELETIONS_KEPT:],
            }
            # without it, an interrupted verification begins again
            with suppress(OSError, StateDirError):
                write_private_file(self._folder / _RESUME_FILE, json.dumps(kept).encode())

    # -- rows in the database ----------------------------------------------------------------------------------

    def _verify_live_rows(self, report: VerifyReport) -> VerifyReport:
        stored = self._connection.execute(
            f"SELECT seq, hash, {COLUMNS} FROM record WHERE seq > ? ORDER BY seq",  # noqa: S608
            (report.rows,),
        )
        report = self._verify_chain(report, stored)
        if not report.is_intact:
            return report
        if report.rows < self._head_seq:
            reason = f"the rows {report.rows + 1} to {self._head_seq} at the end are missing"
            return replace(report, is_intact=False, broken_seq=report.rows + 1, reason=reason)
        if (report.rows, report.head) != (self._head_seq, self._head_hash.hex()):
            reason = f"the record was rewritten: its kept end is row {self._head_seq} with another hash"
            return replace(report, is_intact=False, broken_seq=self._head_seq, reason=reason)
        return report

    def _verify_chain(self, report: VerifyReport, stored: Iterable[tuple[Any, ...]]) -> VerifyReport:
        rows = report.rows
        last_hash = bytes.fromhex(report.head)
        for seq, kept_hash, *fields in stored:
            expected = rows + 1
            if seq != expected:
                reason = f"row {expected} is missing; row {seq} follows"
                return replace(
                    report, is_intact=False, rows=rows, head=last_hash.hex(), broken_seq=expected, reason=reason
                )
            row = CallRow(*fields)
            _, row_hash = chain_row(last_hash, row)
            if row_hash != kept_hash:
                reason = f"row {expected} was changed after it was written, or the row before it was exchanged"
                return replace(
                    report, is_intact=False, rows=rows, head=last_hash.hex(), broken_seq=expected, reason=reason
                )
            rows = expected
            last_hash = row_hash
            self._note_deletion(row)
            if rows % _PROGRESS_ROWS == 0:
                self._progress(rows, self._head_seq)
        return replace(report, rows=rows, head=last_hash.hex())
