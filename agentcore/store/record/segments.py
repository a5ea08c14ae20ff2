"""Closed segments of the record: compressed files with the older rows, which continue the chain of hashes.

A file is gzip-compressed text in lines: a header (JSON), then for each row the text that its hash covers, a tab, and
its recorded arguments as JSON text. After every 1,000 rows and after the last one, `#SEQ HASH` gives the hash at that
row.
"""

import gzip
import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from agentcore.late_dataclasses import dataclass
from agentcore.store.record.call_row import COLUMNS, GENESIS_HASH, CallRow, encode_hashed_fields

CHECKPOINT_ROWS = 1000
"""Rows between two hashes in a file: how precisely a changed row is located."""

_FORMAT = 1
_COLUMNS = "number, first_seq, last_seq, previous_hash, head, first_ms, last_ms, stored_bytes, deleted_at_ms"
_PAUSE_ROWS = 500
_PAUSE_SECONDS = 0.002
_HEADER_BYTES = 4096

Progress = Callable[[int], None]
"""Receives the number of rows verified since it was called last."""


class SegmentBrokenError(ValueError):
    """A segment's file is missing, damaged or changed."""

    def __init__(self, first_seq: int, reason: str) -> None:
        super().__init__(reason)
        self.first_seq = first_seq


@dataclass(frozen=True, slots=True)
class Segment:
    """A range of rows that was moved from the database to a file.

    Args:
        previous_hash: The hash of the row before the first one: the head of the segment before.
        head: The hash of the last row.
        first_ms: Start time of the first row, in milliseconds since 1970.
        stored_bytes: Size of the file.
        deleted_at_ms: When the file was deleted because the record had reached a limit; None: it exists.
    """

    number: int
    first_seq: int
    last_seq: int
    previous_hash: bytes
    head: bytes
    first_ms: int
    last_ms: int
    stored_bytes: int
    deleted_at_ms: int | None = None

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.last_seq - self.first_seq + 1

    def locate_file(self, folder: Path) -> Path:
        """Return the path of the file in the folder of segments."""
        return folder / f"{self.first_seq:012d}-{self.last_seq:012d}.jsonl.gz"


class SegmentLine(NamedTuple):
    """A row as stored in a file: its number, the text that its hash covers, and its arguments as JSON text."""

    seq: int
    hashed: bytes
    arguments: bytes

    def parse_row(self) -> CallRow:
        """Return the row."""
        return CallRow._make([*json.loads(self.hashed), json.loads(self.arguments)])


def segments_folder(database: Path) -> Path:
    """Return the folder of the segments that belong to a database file."""
    return database.with_name("record")


def read_segments(connection: sqlite3.Connection) -> list[Segment]:
    """Return all closed segments, the oldest first, including those whose files were deleted.

    A database of an earlier version, which no server has opened since, has none.
    """
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'record_segments'").fetchone() is None:
        return []
    return [Segment(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM record_segments ORDER BY number")]  # noqa: S608


def add_segment(segment: Segment, connection: sqlite3.Connection) -> None:
    """Note a segment whose file exists; from here on, its rows may be deleted from the database."""
    values = (
        segment.number,
        segment.first_seq,
        segment.last_seq,
        segment.previous_hash,
        segment.head,
        segment.first_ms,
        segment.last_ms,
        segment.stored_bytes,
        segment.deleted_at_ms,
    )
    connection.execute(f"INSERT INTO record_segments ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
    # counts of calls by client, which would otherwise leave the database with the rows
    connection.execute(
        "INSERT INTO record_clients (client, calls, last_ms) "
        "SELECT principal_id, count(DISTINCT call_id), max(time_ms) FROM record "
        "WHERE principal_kind = 'mcp' AND kind = 'call' AND seq BETWEEN ? AND ? GROUP BY principal_id "
        "ON CONFLICT (client) DO UPDATE SET calls = calls + excluded.calls, last_ms = max(last_ms, excluded.last_ms)",
        (segment.first_seq, segment.last_seq),
    )


def write_segment(connection: sqlite3.Connection, folder: Path, last_seq: int, previous: Segment | None) -> Segment:
    """Write the oldest rows of the database, up to `last_seq`, to a file; runs in a thread.

    The rows are read as they are stored, and their hashes are compared: a file never gives a changed row a new hash.

    Args:
        connection: A connection of its own, for reading.
        previous: The segment before; None: this is the first.
    Raises:
        SegmentBrokenError: A row is missing or was changed.
        OSError: The file cannot be written.
    """
    first_seq = 1 if previous is None else previous.last_seq + 1
    previous_hash = GENESIS_HASH if previous is None else previous.head
    segment = Segment(
        1 if previous is None else previous.number + 1, first_seq, last_seq, previous_hash, previous_hash, 0, 0, 0
    )
    path = segment.locate_file(folder)
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
            head, first_ms, last_ms = _write_rows(connection, packed, segment)
        file.flush()
        os.fsync(file.fileno())
        stored_bytes = file.tell()
    partial.replace(path)
    _sync_folder(folder)
    return Segment(segment.number, first_seq, last_seq, previous_hash, head, first_ms, last_ms, stored_bytes)


def _write_rows(connection: sqlite3.Connection, packed: gzip.GzipFile, segment: Segment) -> tuple[bytes, int, int]:
    header = {
        "agentcore_record": _FORMAT,
        "first_seq": segment.first_seq,
        "last_seq": segment.last_seq,
        "previous_hash": segment.previous_hash.hex(),
    }
    packed.write(json.dumps(header).encode() + b"\n")
    stored = connection.execute(
        f"SELECT seq, hash, {COLUMNS} FROM record WHERE seq BETWEEN ? AND ? ORDER BY seq",  # noqa: S608
        (segment.first_seq, segment.last_seq),
    )
    last_hash = segment.previous_hash
    first_ms = last_ms = 0
    expected = segment.first_seq
    for seq, kept_hash, *fields in stored:
        row = CallRow(*fields)
        hashed = encode_hashed_fields(row).encode("ascii")
        last_hash = hashlib.sha256(last_hash + hashed).digest()
        if seq != expected or last_hash != kept_hash:
            raise SegmentBrokenError(expected, f"row {expected} is missing or was changed after it was written")
        packed.write(b"%s\t%s\n" % (hashed, json.dumps(row.arguments).encode("ascii")))
        first_ms = first_ms or row.time_ms
        last_ms = row.time_ms
        if seq % CHECKPOINT_ROWS == 0 or seq == segment.last_seq:
            packed.write(b"#%d %s\n" % (seq, last_hash.hex().encode()))
        if seq % _PAUSE_ROWS == 0:
            # the event loop needs the interpreter too, and this work is not urgent
            time.sleep(_PAUSE_SECONDS)
        expected += 1
    if expected != segment.last_seq + 1:
        raise SegmentBrokenError(expected, f"row {expected} is missing")
    return last_hash, first_ms, last_ms


def read_lines(folder: Path, segment: Segment) -> Iterator[SegmentLine]:
    """Read a segment's rows, the oldest first, without checking hashes.

    Raises:
        SegmentBrokenError: The file is missing or damaged.
    """
    with _open_segment(folder, segment) as lines:
        seq = segment.first_seq
        for line in _read_all_lines(lines, segment):
            if not line.startswith(b"#"):
                hashed, _, arguments = line.rstrip(b"\n").partition(b"\t")
                yield SegmentLine(seq, hashed, arguments)
                seq += 1


def verify_segment(folder: Path, segment: Segment, progress: Progress = lambda rows: None) -> Iterator[SegmentLine]:
    """Verify a segment's file against its entry in the database; yields the notices of the record in it.

    Raises:
        SegmentBrokenError: The file is missing, damaged or changed.
    """
    last_hash = checked_hash = segment.previous_hash
    seq = checked = segment.first_seq - 1
    sha256 = hashlib.sha256
    with _open_segment(folder, segment) as lines:
        for line in _read_all_lines(lines, segment):
            if line.startswith(b"#"):
                if line != b"#%d %s\n" % (seq, last_hash.hex().encode()):
                    raise SegmentBrokenError(checked + 1, f"one of the rows {checked + 1} to {seq} was changed")
                progress(seq - checked)
                checked = seq
                checked_hash = last_hash
                continue
            hashed, tab, arguments = line.partition(b"\t")
            seq += 1
            if not tab:
                raise SegmentBrokenError(seq, f"row {seq} is not readable")
            last_hash = sha256(last_hash + hashed).digest()
            if b'"notice"' in hashed:
                yield SegmentLine(seq, hashed, arguments.rstrip(b"\n"))
    if (checked, checked_hash) != (segment.last_seq, segment.head):
        raise SegmentBrokenError(
            checked + 1, f"the rows {segment.first_seq} to {segment.last_seq} do not end with the hash that was kept"
        )


def _open_segment(folder: Path, segment: Segment) -> BinaryIO:
    try:
        return gzip.open(segment.locate_file(folder), "rb")  # type: ignore[return-value]
    except OSError as exc:
        path = segment.locate_file(folder)
        raise SegmentBrokenError(
            segment.first_seq,
            f"{path.name} with the rows {segment.first_seq} to {segment.last_seq} cannot be read: {exc.strerror}",
        ) from exc


def _read_all_lines(lines: BinaryIO, segment: Segment) -> Iterator[bytes]:
    """Yield the lines after the header."""
    expected = (segment.first_seq, segment.last_seq, segment.previous_hash.hex())
    try:
        header = json.loads(lines.readline(_HEADER_BYTES))
        is_right = (header["first_seq"], header["last_seq"], header["previous_hash"]) == expected
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as exc:
        raise _damaged(segment, exc) from exc
    if not is_right:
        raise SegmentBrokenError(segment.first_seq, "the file's header names other rows than the database")
    while True:
        try:
            line = lines.readline()
        except (OSError, EOFError, zlib.error) as exc:
            raise _damaged(segment, exc) from exc
        if not line:
            return
        yield line


def _damaged(segment: Segment, exc: Exception) -> SegmentBrokenError:
    reason = f"the file with the rows {segment.first_seq} to {segment.last_seq} is damaged: {exc}"
    return SegmentBrokenError(segment.first_seq, reason)


def _sync_folder(folder: Path) -> None:
    """Wait until the folder's entries are on disk: the rows are deleted from the database after this."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
