"""The record of calls: rows are queued in memory, committed in groups and chained by hashes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Self

import structlog

from agentcore.store.database.database import Database
from agentcore.store.record.call_row import CallRow, RecordedRow, make_notice_row
from agentcore.store.record.commit_group import OpenKey, RecordGroup, interrupt_open_calls
from agentcore.store.record.query import (
    SEGMENTS_SEARCHED,
    ClosedSegments,
    RecordFilter,
    RecordPage,
    count_by_client,
    count_tools_of_client,
    read_closed_page,
    read_live_page,
    read_newest_seq,
)
from agentcore.store.record.segments import SegmentBrokenError, read_segments, segments_folder
from agentcore.store.record.verification import VerifyReport, verify_record
from agentcore.store.state.state_errors import RecordUnreadableError, RecordWriteError

log = structlog.get_logger(__name__)

QUEUE_ROWS = 10_000
"""Maximum number of rows waiting for the disk; further rows are lost, and the record notes how many."""

GROUP_SECONDS = 0.05
"""How long a row waits for others to be committed with it."""

MANY_ROWS = 100_000
"""Rows in the database from which on older ones are moved to files."""

RETRY_SECONDS = 1.0
"""How long a group that could not be committed waits before the next attempt."""


class Record:
    """The record of calls. Its methods may only be called in the event loop's thread.

    `interrupted` contains the calls that the last process left open; whether they had their effect is unknown.
    `going_on` contains those of them that may still run without that process; the caller that learns how one ends
    appends its result.
    `many_rows` is set when `live_rows`, the rows that are not in files yet, have become so many that older ones should
    be moved; whoever moves them corrects the number.
    """

    def __init__(
        self, database: Database, interrupted: list[CallRow], queue_rows: int, going_on: list[CallRow]
    ) -> None:
        self.interrupted = tuple(interrupted)
        self.going_on = tuple(going_on)
        self._database = database
        self._queue_rows = queue_rows
        self._rows: list[CallRow] = []
        self._begun: dict[OpenKey, CallRow] = {}
        self._noted: set[OpenKey] = {(row.call_id, row.time_ms) for row in going_on}
        self._ended: list[OpenKey] = []
        self._waiters: list[asyncio.Future[None]] = []
        self._has_work = asyncio.Event()
        self._is_urgent = asyncio.Event()
        self._is_durable = self._is_closing = self._is_failing = self._is_writing = False
        self._lost = 0
        self.counts = {"written": 0, "lost": 0, "failed_commits": 0}
        self.live_rows = 0
        self.many_rows = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, database: Database, *, queue_rows: int = QUEUE_ROWS, goes_on: Callable[[CallRow], bool] = lambda row: False
    ) -> AsyncIterator[Self]:
        """Close calls that the last process left open, write groups while open, and flush the rest at the end.

        Args:
            goes_on: Returns True if a call left open may continue without that process.
        """
        interrupt = partial(interrupt_open_calls, goes_on=goes_on)
        interrupted, going_on = await database.write(interrupt, is_durable=True)
        record = cls(database, interrupted, queue_rows, going_on)
        # not in a TaskGroup, which would wrap exceptions of the body; this function awaits the task in any case
        writer = asyncio.get_running_loop().create_task(record._write_groups(), name="record-writer")
        try:
            yield record
        finally:
            record._is_closing = True
            record._wake_writer()
            await writer

    # -- adding ------------------------------------------------------------------------------------------------

    def add_open_call(self, row: CallRow) -> None:
        """Record that a call has started, so that it is known even if this process is killed before the call ends.

        Costs about as much as `append`; never waits. The row that ends the call has the same `call_id` and `time_ms`.
        """
        self._begun[row.call_id, row.time_ms] = row
        self._has_work.set()

    def append(self, row: CallRow) -> None:
        """Add a finished call or a decision; never waits, committed within 50 ms.

        If the queue is full (the disk fails, or the caller ignored `drain`), the row is lost and counted.
        """
        if row.kind == "call":
            self._close_call((row.call_id, row.time_ms))
        if len(self._rows) < self._queue_rows:
            self._rows.append(row)
        else:
            self._count_lost_rows(1)
        self._has_work.set()

    async def commit_open_call(self, row: CallRow, *, is_durable: bool) -> None:
        """Record that a call has started, and return once this and all earlier rows are committed.

        Args:
            row: As for `add_open_call`.
            is_durable: Wait until it is synced to disk, so that it survives a power cut.
        Raises:
            RecordWriteError: It was not recorded; the call must not run.
        """
        self.add_open_call(row)
        try:
            await self.flush(is_durable=is_durable)
        except RecordWriteError:
            self._close_call((row.call_id, row.time_ms))
            raise

    async def flush(self, *, is_durable: bool = False) -> None:
        """Commit everything added so far.

        Args:
            is_durable: Wait until it is synced to disk, so that it survives a power cut.
        Raises:
            RecordWriteError: The commit failed; the rows are retained and retried.
        """
        if self._is_closing:
            raise RecordWriteError("the record of calls is closed; nothing can be added to it any more")
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._is_durable |= is_durable
        self._wake_writer()
        await waiter

    @property
    def is_full(self) -> bool:
        """True if half of the queue is used, so that callers should `drain` before adding more."""
        return 2 * len(self._rows) >= self._queue_rows

    async def drain(self) -> None:
        """Wait until the queue has room; return at once if it has.

        Raises:
            RecordWriteError: There is no room because nothing can be written.
        """
        while self.is_full:
            await self.flush()

    # -- reading -----------------------------------------------------------------------------------------------

    async def read_page(
        self, wanted: RecordFilter | None = None, *, before_seq: int | None = None, skip: int = 0, limit: int = 100
    ) -> list[RecordedRow]:
        """Return the newest matching rows, newest first, including all rows added before this call.

        Rows that are not in the database any more are searched in files, however long that takes.

        Args:
            wanted: The filter; None: all rows.
            before_seq: Only rows older than this one, the last `seq` of the previous page; None: as in the filter.
            skip: Number of newest rows to skip.
            limit: Maximum number of rows, up to 1,000.
        Raises:
            RecordUnreadableError: A file is missing or damaged.
        """
        bounded = wanted or RecordFilter()
        if before_seq is not None:
            bounded = replace(bounded, before_seq=before_seq)
        live = await self._read_live(bounded, skip, limit, None)
        if live.next_seq is None or len(live.rows) == limit:
            return live.rows
        skip = max(0, skip - await self._database.read(bounded.count_rows)) if not live.rows else 0
        older = _bounded_before(bounded, live.next_seq)
        closed = await self._read_closed(older, skip, limit - len(live.rows), None)
        return live.rows + closed.rows

    async def read_bounded_page(
        self, wanted: RecordFilter, *, skip: int = 0, limit: int = 100, must_count: bool = False
    ) -> RecordPage:
        """Return a page, newest first, after a bounded amount of work; a page may be short although there are more.

        One page has rows of the database, or of at most `SEGMENTS_SEARCHED` files; the rows and the count are of the
        same moment.

        Args:
            must_count: Also count the matching rows: all of them without a filter, else those in the database.
        Raises:
            RecordUnreadableError: A file is missing or damaged.
        """
        counted = wanted if must_count else None
        if skip and wanted.selects_all:
            # rows are numbered without gaps
            newest = await self._database.read(read_newest_seq)
            wanted = _bounded_before(wanted, newest + 1)
            wanted = replace(wanted, before_seq=max(1, (wanted.before_seq or 1) - skip))
            skip = 0
        live = await self._read_live(wanted, skip, limit, counted)
        starts_in_files = live.next_seq is not None and (wanted.before_seq or live.next_seq + 1) <= live.next_seq
        if live.rows or not starts_in_files:
            return live
        closed = await self._read_closed(wanted, skip, limit, SEGMENTS_SEARCHED)
        return closed._replace(total=live.total, total_since=live.total_since)

    async def count_rows(self, wanted: RecordFilter | None = None) -> int:
        """Return the number of matching rows in the database."""
        await self._flush_pending()
        return await self._database.read((wanted or RecordFilter()).count_rows)

    async def count_calls_by_client(self) -> dict[str, tuple[int, int]]:
        """Return by MCP client its number of calls and the start of its last one, in milliseconds since 1970."""
        await self._flush_pending()
        return await self._database.read(count_by_client)

    async def count_calls_by_tool(self, client: str) -> dict[str, int]:
        """Return by tool how often an MCP client has called it lately."""
        await self._flush_pending()
        return await self._database.read(partial(count_tools_of_client, client))

    async def verify(self) -> VerifyReport:
        """Verify that no row of the record was changed or removed."""
        await self._flush_pending()
        return await asyncio.to_thread(verify_record, self._database.path)

    async def _read_live(self, wanted: RecordFilter, skip: int, limit: int, counted: RecordFilter | None) -> RecordPage:
        await self._flush_pending()
        return await self._database.read(partial(read_live_page, wanted, skip, limit, counted))

    async def _read_closed(self, wanted: RecordFilter, skip: int, limit: int, most_segments: int | None) -> RecordPage:
        segments = await self._database.read(read_segments)
        closed = ClosedSegments(segments_folder(self._database.path), segments)
        try:
            return await asyncio.to_thread(read_closed_page, wanted, skip, limit, closed, most_segments)
        except SegmentBrokenError as exc:
            raise RecordUnreadableError(f"{exc}; rows before {exc.first_seq} can be read on their own") from exc

    async def _flush_pending(self) -> None:
        """Flush pending rows; if that fails, readers see what is stored."""
        if (self._rows or self._is_writing) and not self._is_closing:
            with suppress(RecordWriteError):  # the cause is in the log and in the counts
                await self.flush()

    # -- writing -----------------------------------------------------------------------------------------------

    def _close_call(self, key: OpenKey) -> None:
        self._begun.pop(key, None)
        if key in self._noted:
            self._noted.remove(key)
            self._ended.append(key)

    def _count_lost_rows(self, rows: int) -> None:
        if self._lost == 0:
            log.error("record_rows_lost", queued=len(self._rows))
        self._lost += rows
        self.counts["lost"] += rows

    def _wake_writer(self) -> None:
        self._is_urgent.set()
        self._has_work.set()

    async def _write_groups(self) -> None:
        while not self._is_closing:
            await self._has_work.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS if self._is_failing else GROUP_SECONDS):
                    await self._is_urgent.wait()
            await self._commit_group()
        await self._commit_group()  # added while the last group was being written
        self._queue_rows = 0  # rows added from here on are lost, and logged as lost
        if self._rows:
            log.error("record_rows_lost_at_the_end", rows=len(self._rows))

    async def _commit_group(self) -> None:
        self._has_work.clear()
        self._is_urgent.clear()
        waiters = self._waiters
        self._waiters = []
        is_durable = self._is_durable
        self._is_durable = False
        lost = self._lost
        self._lost = 0
        group = self._build_group(lost)
        self._is_writing = True
        try:
            await self._database.write(group.write, is_durable=is_durable)
        except Exception as exc:  # noqa: BLE001 - whatever it is, whoever waits is told and the loop goes on
            self._put_back(group, lost)
            self._drop_malformed()
            self._report_failure(waiters, exc)
        else:
            self.counts["written"] += len(group.rows)
            self.live_rows += len(group.rows)
            if self.live_rows >= MANY_ROWS:
                self.many_rows.set()
            self._report_success(waiters)
        finally:
            self._is_writing = False

    def _build_group(self, lost: int) -> RecordGroup:
        rows = self._rows
        self._rows = []
        begun = self._begun
        self._begun = {}
        ended = self._ended
        self._ended = []
        # before the commit, so that the next group removes a call that ends meanwhile
        self._noted.update(begun)
        return RecordGroup(
            [*rows, make_notice_row("rows_lost", rows=lost)] if lost else rows, list(begun.values()), ended
        )

    def _put_back(self, group: RecordGroup, lost: int) -> None:
        rows = group.rows[:-1] if lost else group.rows
        self._rows = [*rows, *self._rows]
        self._lost += lost
        self._ended = [*group.ended, *self._ended]
        still_open = {
            (row.call_id, row.time_ms): row for row in group.begun if (row.call_id, row.time_ms) in self._noted
        }
        self._noted.difference_update(still_open)
        self._begun = still_open | self._begun

    def _drop_malformed(self) -> None:
        """Drop rows that can never be stored; otherwise none after them would be stored either."""
        malformed = [row for row in self._rows if not row.is_well_typed()]
        if malformed:
            log.error("record_row_malformed", tools=[str(row.tool) for row in malformed], rows=len(malformed))
            self._rows = [row for row in self._rows if row.is_well_typed()]
            self._count_lost_rows(len(malformed))
        self._begun = {key: row for key, row in self._begun.items() if row.is_well_typed()}

    def _report_failure(self, waiters: Iterable[asyncio.Future[None]], exc: Exception) -> None:
        self.counts["failed_commits"] += 1
        if not self._is_failing:
            log.error("record_write_failed", error=f"{type(exc).__name__}: {exc}", queued=len(self._rows))
        self._is_failing = True
        self._has_work.set()
        message = f"the record of calls cannot be written ({exc}); make room on the disk of the state folder"
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(RecordWriteError(message))

    def _report_success(self, waiters: Iterable[asyncio.Future[None]]) -> None:
        if self._is_failing:
            log.info("record_write_recovered", queued=len(self._rows))
        self._is_failing = False
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


def _bounded_before(wanted: RecordFilter, before_seq: int) -> RecordFilter:
    """Return the filter restricted to rows older than one."""
    if wanted.before_seq is not None and wanted.before_seq <= before_seq:
        return wanted
    return replace(wanted, before_seq=before_seq)
