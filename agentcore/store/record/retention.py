"""Keeps the record within its limits: moves older rows to compressed files, and deletes files beyond the limits."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import structlog

from agentcore.errors import AgentcoreError
from agentcore.late_dataclasses import dataclass
from agentcore.store.database.database import Database
from agentcore.store.database.database_file import open_connection
from agentcore.store.record.call_row import make_notice_row
from agentcore.store.record.record import MANY_ROWS, Record
from agentcore.store.record.segments import (
    Segment,
    SegmentBrokenError,
    add_segment,
    read_segments,
    segments_folder,
    verify_segment,
    write_segment,
)
from agentcore.store.state.private_file import make_private_folder

log = structlog.get_logger(__name__)

SEGMENT_ROWS = MANY_ROWS // 2
"""Rows of a closed segment. The database keeps between this number and twice as many, which any filter searches in less
than 100 ms."""

_SEGMENT_TEXT_BYTES = 64 << 20
"""Recorded arguments after which a segment is closed with fewer rows."""

_SEGMENT_DAYS = 31
"""A segment is closed with fewer rows once it is this old, so that a limit of age can take effect."""

_DELETED_ROWS = 2000
"""Rows deleted in one transaction: other writers wait for no longer than that takes."""

_CHECK_SECONDS = 3600.0
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class RecordLimits:
    """How much of the record is kept.

    Args:
        size_bytes: Size of the rows in the database and of the files together.
        age_days: Age of a segment's newest row.
    """

    size_bytes: int
    age_days: int


@dataclass(frozen=True, slots=True)
class RecordSize:
    """How large the record is.

    Args:
        used_bytes: Size of the rows in the database and of the files.
        rows: Number of rows that are kept.
        oldest_ms: Time of the oldest of them, in milliseconds since 1970; None: there are none.
    """

    used_bytes: int
    rows: int
    oldest_ms: int | None


class RecordKeeper:
    """Moves and deletes rows in the background. What cannot be read or written stays, and is in `problems`."""

    def __init__(
        self, database: Database, record: Record, limits: RecordLimits, segment_rows: int = SEGMENT_ROWS
    ) -> None:
        self.problems: dict[str, str] = {}
        self._database = database
        self._record = record
        self._limits = limits
        self._segment_rows = segment_rows
        self._folder = segments_folder(database.path)
        self._is_stopping = False

    @asynccontextmanager
    async def run(self, *, must_verify: bool = False) -> AsyncIterator[None]:
        """Keep the limits while open.

        Args:
            must_verify: The last process did not end cleanly: verify the files in the background.
        """
        task = asyncio.get_running_loop().create_task(self._run(must_verify=must_verify), name="record-keeper")
        try:
            yield
        finally:
            # a file is written to its end or not at all, and each transaction stands alone
            self._is_stopping = True
            self._record.many_rows.set()
            await task

    async def tidy(self) -> None:
        """Close segments that are full, and delete what is beyond the limits."""
        await asyncio.to_thread(self._prepare_folder, await self._database.read(read_segments))
        while not self._is_stopping and await self._close_segment():
            pass
        await self._delete_moved_rows()
        await self._delete_old_segments()
        self._record.live_rows = await self._database.read(_count_live_rows)

    async def measure(self) -> RecordSize:
        """Return how large the record is."""
        return await self._database.read(_measure_record)

    async def verify_files(self) -> None:
        """Verify the files of closed segments; what is wrong is logged, and shown until the next start."""
        for segment in await self._database.read(read_segments):
            if self._is_stopping:
                return
            if segment.deleted_at_ms is None:
                await self._verify_file(segment)

    # -- moving ------------------------------------------------------------------------------------------------

    async def _run(self, *, must_verify: bool) -> None:
        if must_verify:
            await self._attempt("verify", self.verify_files)
        while not self._is_stopping:
            self._record.many_rows.clear()
            await self._attempt("tidy", self.tidy)
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._record.many_rows.wait()

    async def _attempt(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (OSError, sqlite3.Error, SegmentBrokenError, AgentcoreError) as exc:
            self._add_problem(name, str(exc))
            self._record.live_rows = 0  # so that this is tried again later, and not after each group of rows
        else:
            if name == "tidy":
                self.problems.pop(name, None)

    def _add_problem(self, name: str, reason: str) -> None:
        if self.problems.get(name) != reason:
            log.error("record_segment_problem", step=name, reason=reason)
        self.problems[name] = reason

    async def _close_segment(self) -> bool:
        """Move the oldest rows to a file if there are enough of them; return True if that was done."""
        choose = partial(_choose_last_row, self._segment_rows, _now_ms())
        last_seq, previous = await self._database.read(choose)
        if last_seq is None:
            return False
        segment = await asyncio.to_thread(self._write_segment, last_seq, previous)
        await self._database.write(partial(add_segment, segment), is_durable=True)
        await self._delete_moved_rows()
        return True

    def _write_segment(self, last_seq: int, previous: Segment | None) -> Segment:
        with closing(open_connection(self._database.path, is_read_only=True)) as connection:
            return write_segment(connection, self._folder, last_seq, previous)

    async def _delete_moved_rows(self) -> None:
        has_more = True
        while has_more and not self._is_stopping:
            has_more = await self._database.write(_delete_some_moved_rows)

    # -- deleting ----------------------------------------------------------------------------------------------

    async def _delete_old_segments(self) -> None:
        for segment, reason in await self._database.read(self._choose_deletions):
            if self._is_stopping:
                return
            self._record.append(
                make_notice_row(
                    "record_segment_deleted",
                    first_seq=segment.first_seq,
                    last_seq=segment.last_seq,
                    head=segment.head.hex(),
                    reason=reason,
                )
            )
            # the notice is on disk before the rows that it stands for are gone
            await self._record.flush(is_durable=True)
            await self._database.write(partial(_mark_deleted, segment.number, _now_ms()), is_durable=True)
            await asyncio.to_thread(segment.locate_file(self._folder).unlink, missing_ok=True)
            log.info("record_segment_deleted", rows=segment.rows, reason=reason)

    def _choose_deletions(self, connection: sqlite3.Connection) -> list[tuple[Segment, str]]:
        present = [segment for segment in read_segments(connection) if segment.deleted_at_ms is None]
        size = _measure_record(connection).used_bytes
        oldest_ms = _now_ms() - self._limits.age_days * _DAY_MS
        chosen = []
        for segment in present:
            if segment.last_ms < oldest_ms:
                chosen.append((segment, f"older than {self._limits.age_days} days"))
            elif size > self._limits.size_bytes:
                chosen.append((segment, f"the record is larger than {self._limits.size_bytes} bytes"))
            else:
                break
            size -= segment.stored_bytes
        return chosen

    def _prepare_folder(self, segments: list[Segment]) -> None:
        """Create the folder, and remove what an interrupted move or deletion left."""
        if not segments and any(self._folder.glob("*.jsonl.gz")):
            # files of another database, which somebody took away: new ones would replace them
            stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
            self._folder.rename(self._folder.with_name(f"{self._folder.name}.before-{stamp}"))
        make_private_folder(self._folder)
        for path in self._folder.glob("*.partial"):
            path.unlink()
        for segment in segments:
            if segment.deleted_at_ms is not None:
                segment.locate_file(self._folder).unlink(missing_ok=True)

    async def _verify_file(self, segment: Segment) -> None:
        try:
            await asyncio.to_thread(_read_to_the_end, self._folder, segment)
        except SegmentBrokenError as exc:
            self._add_problem(f"rows {segment.first_seq} to {segment.last_seq}", str(exc))


def _read_to_the_end(folder: Path, segment: Segment) -> None:
    for _ in verify_segment(folder, segment, lambda rows: time.sleep(0)):
        pass


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _last_closed(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT coalesce(max(last_seq), 0) FROM record_segments").fetchone()
    return int(last)


def _count_live_rows(connection: sqlite3.Connection) -> int:
    (newest,) = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
    return int(newest) - _last_closed(connection)


def _measure_record(connection: sqlite3.Connection) -> RecordSize:
    present = [segment for segment in read_segments(connection) if segment.deleted_at_ms is None]
    live_rows = _count_live_rows(connection)
    oldest: tuple[int | None] = connection.execute("SELECT time_ms FROM record ORDER BY seq LIMIT 1").fetchone() or (
        None,
    )
    if present:
        oldest = (present[0].first_ms,)
    return RecordSize(
        sum(segment.stored_bytes for segment in present) + _estimate_live_bytes(connection),
        sum(segment.rows for segment in present) + live_rows,
        oldest[0],
    )


def _choose_last_row(
    segment_rows: int, now_ms: int, connection: sqlite3.Connection
) -> tuple[int | None, Segment | None]:
    """Return the last row of the next segment, or None if there are too few rows for one; and the segment before."""
    segments = read_segments(connection)
    previous = segments[-1] if segments else None
    last_closed = 0 if previous is None else previous.last_seq
    live = _count_live_rows(connection)
    if live >= 2 * segment_rows:
        return last_closed + segment_rows, previous
    if live > segment_rows // 10 and _estimate_live_bytes(connection) >= 2 * _SEGMENT_TEXT_BYTES:
        return last_closed + live // 2, previous
    oldest = connection.execute("SELECT time_ms FROM record WHERE seq = ?", (last_closed + 1,)).fetchone()
    if oldest is not None and oldest[0] < now_ms - _SEGMENT_DAYS * _DAY_MS and live > 1:
        # the newest row stays: it may be needed to continue the chain after a crash
        old = connection.execute(
            "SELECT max(seq) FROM record WHERE seq < ? AND time_ms < ?",
            (last_closed + live, now_ms - _SEGMENT_DAYS * _DAY_MS),
        ).fetchone()
        return old[0], previous
    return None, previous


def _estimate_live_bytes(connection: sqlite3.Connection) -> int:
    rows = _count_live_rows(connection)
    # 500 rows, spread over all: exact sums would read the whole table
    step = max(1, rows // 500)
    sizes = connection.execute(
        "SELECT avg(length(arguments) + 400) FROM record WHERE seq > ? AND seq % ? = 0",
        (_last_closed(connection), step),
    ).fetchone()
    return int(rows * (sizes[0] or 0))


def _delete_some_moved_rows(connection: sqlite3.Connection) -> bool:
    """Delete the oldest rows that are in files; return True if there are more of them. The rest has no gap."""
    (first,) = connection.execute("SELECT min(seq) FROM record").fetchone()
    last = _last_closed(connection)
    if first is None or first > last:
        return False
    until = min(last, first + _DELETED_ROWS - 1)
    connection.execute("DELETE FROM record WHERE seq <= ?", (until,))
    return bool(until < last)


def _mark_deleted(number: int, now_ms: int, connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE record_segments SET deleted_at_ms = ? WHERE number = ?", (now_ms, number))
