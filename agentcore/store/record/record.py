"""The record of calls: appended in memory at no cost to a call, committed in groups, chained by hashes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Self

import structlog

from agentcore.store.database.database import Database
from agentcore.store.record.call_row import CallRow, RecordedRow, make_notice_row
from agentcore.store.record.group import OpenKey, RecordGroup, interrupt_open_calls
from agentcore.store.record.query import RecordFilter, count_by_client
from agentcore.store.record.verification import VerifyReport, verify_record
from agentcore.store.state.errors import RecordWriteError

log = structlog.get_logger(__name__)

QUEUE_ROWS = 10_000
"""Rows that may wait for the disk; what comes on top of them is lost, and the record says how many."""

GROUP_SECONDS = 0.05
"""How long a row waits for others to be committed with."""

RETRY_SECONDS = 1.0
"""How long a group that could not be committed waits for the next try."""


class Record:
    """The record of calls. Its methods belong to the event loop's thread.

    `interrupted` holds the calls that the last process left open: whether they did what they should is unknown.
    `going_on` holds those of them that may go on without that process; whoever knows how they end appends it.
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

    @classmethod
    @asynccontextmanager
    async def open(
        cls, database: Database, *, queue_rows: int = QUEUE_ROWS, goes_on: Callable[[CallRow], bool] = lambda row: False
    ) -> AsyncIterator[Self]:
        """End what the last process left open, write groups meanwhile, and the rest at the end.

        Args:
            goes_on: Whether a call that was left open may go on without that process.
        """
        interrupt = partial(interrupt_open_calls, goes_on=goes_on)
        interrupted, going_on = await database.write(interrupt, is_durable=True)
        record = cls(database, interrupted, queue_rows, going_on)
        # not in a TaskGroup, which would wrap what the body raises: this function waits for the task in any case
        writer = asyncio.get_running_loop().create_task(record._write_groups(), name="record-writer")
        try:
            yield record
        finally:
            record._is_closing = True
            record._wake_writer()
            await writer

    # -- adding ------------------------------------------------------------------------------------------------

    def add_open_call(self, row: CallRow) -> None:
        """Note that a call has begun, so that it is known if this process is killed before the call ends.

        Costs about as much as `append`; never waits. The row that ends it has the same `call_id` and `time_ms`.
        """
        self._begun[row.call_id, row.time_ms] = row
        self._has_work.set()

    def append(self, row: CallRow) -> None:
        """Add a finished call or a decision; never waits, committed within 50 ms.

        With a full queue (the disk fails, or `drain` was not heeded) the row is lost and counted.
        """
        if row.kind == "call":
            self._close_call((row.call_id, row.time_ms))
        if len(self._rows) < self._queue_rows:
            self._rows.append(row)
        else:
            self._count_lost_rows(1)
        self._has_work.set()

    async def commit_open_call(self, row: CallRow, *, is_durable: bool) -> None:
        """Note that a call has begun, and return once that is committed with all that was added before.

        Args:
            row: As for `begin`.
            is_durable: Wait until the disk has it, so that a power cut cannot take it.
        Raises:
            RecordWriteError: It was not noted; the call must not run.
        """
        self.add_open_call(row)
        try:
            await self.flush(is_durable=is_durable)
        except RecordWriteError:
            self._close_call((row.call_id, row.time_ms))
            raise

    async def flush(self, *, is_durable: bool = False) -> None:
        """Commit what was added so far, and return when that is done.

        Args:
            is_durable: Wait until the disk has it, so that a power cut cannot take it.
        Raises:
            RecordWriteError: The commit failed; the rows are kept and tried again.
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
        """Whether so many rows wait that whoever adds more should `drain` first."""
        return 2 * len(self._rows) >= self._queue_rows

    async def drain(self) -> None:
        """Wait until the queue has room again; returns at once if it has.

        Raises:
            RecordWriteError: It has not, because nothing can be written.
        """
        while self.is_full:
            await self.flush()

    # -- looking -----------------------------------------------------------------------------------------------

    async def read_page(
        self, wanted: RecordFilter | None = None, *, before_seq: int | None = None, skip: int = 0, limit: int = 100
    ) -> list[RecordedRow]:
        """The newest rows that match, newest first, with all that was added before the call.

        Args:
            wanted: Which rows; None: all.
            before_seq: Only rows older than this one: the last `seq` of the page before; None: as the filter says.
            skip: Leave out so many of the newest.
            limit: At most so many rows, up to 1,000.
        """
        await self._flush_pending()
        bounded = wanted or RecordFilter()
        if before_seq is not None:
            bounded = replace(bounded, before_seq=before_seq)
        return await self._database.read(partial(bounded.read_page, skip, limit))

    async def count_rows(self, wanted: RecordFilter | None = None) -> int:
        """How many rows match."""
        await self._flush_pending()
        return await self._database.read((wanted or RecordFilter()).count_rows)

    async def read_page_and_count(
        self, wanted: RecordFilter | None = None, *, skip: int = 0, limit: int = 100
    ) -> tuple[list[RecordedRow], int]:
        """What `page` and `count` give, of one moment: a row that is added meanwhile is in both or in neither."""
        await self._flush_pending()
        return await self._database.read(partial((wanted or RecordFilter()).read_page_and_count, skip, limit))

    async def count_calls_by_client(self) -> dict[str, tuple[int, int]]:
        """How many calls each client of MCP has made, and when the last began, in milliseconds since 1970."""
        await self._flush_pending()
        return await self._database.read(count_by_client)

    async def verify(self) -> VerifyReport:
        """Go through the whole record and tell whether it is as it was written."""
        await self._flush_pending()
        return await asyncio.to_thread(verify_record, self._database.path)

    async def _flush_pending(self) -> None:
        """Have what was added in the tables; where that fails, what is there is shown all the same."""
        if (self._rows or self._is_writing) and not self._is_closing:
            with suppress(RecordWriteError):  # its cause is in the log, and in the counts
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
        await self._commit_group()  # added while the last group was on its way
        self._queue_rows = 0  # what is added from here on is lost, and said to be
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
        # before the commit, so that a call that ends meanwhile is taken out by the next group
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
        """Leave out rows that can never be stored, or none after them would be."""
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
