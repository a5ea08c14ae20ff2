"""The record in one process: order, grouping, look-up, and what happens when it cannot be written."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agentcore.store.database.database import Database
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.query import RecordFilter, RecordPage, read_live_page
from agentcore.store.record.record import Record
from agentcore.store.record.verification import verify_record
from agentcore.store.state.state_errors import RecordWriteError

MakeRow = Callable[..., CallRow]


@pytest.fixture
async def record(database: Database) -> AsyncIterator[Record]:
    async with Record.open(database) as record:
        yield record


def open_calls(connection: sqlite3.Connection) -> list[str]:
    return [key for (key,) in connection.execute("SELECT call_id FROM open_calls ORDER BY call_id")]


async def limit_pages(database: Database, extra: int) -> None:
    """Let the file grow by so many pages at most; SQLite then answers as on a full disk."""

    def limit(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + extra}")

    await database.write(limit)


async def test_rows_come_back_as_they_were_added_newest_first(record: Record, make_row: MakeRow) -> None:
    rows = [make_row(), make_row(kind="decision", duration_ms=None), make_row(duration_ms=3, resource_id=None)]
    for row in rows:
        record.append(row)
    found = await record.read_page()
    assert [(each.seq, each.row) for each in found] == [(3, rows[2]), (2, rows[1]), (1, rows[0])]


@pytest.mark.spec("K2")
async def test_row_is_committed_without_anybody_asking(record: Record, make_row: MakeRow, database: Database) -> None:
    record.append(make_row())
    async with asyncio.timeout(30):
        while record.counts["written"] == 0:
            await asyncio.sleep(0)
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM record").fetchone()) == (1,)


async def test_rows_added_together_are_committed_together(record: Record, make_row: MakeRow) -> None:
    for _ in range(1111):
        record.append(make_row())
    await record.flush()
    report = await record.verify()
    assert (report.is_intact, report.rows) == (True, 1111)


async def test_record_is_on_the_disk_when_it_is_closed(database: Database, make_row: MakeRow) -> None:
    async with Record.open(database) as record:
        record.append(make_row())
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM record").fetchone()) == (1,)


async def test_what_the_body_raises_comes_out_as_it_is_and_rows_are_kept(database: Database, make_row: MakeRow) -> None:
    async def body() -> None:
        async with Record.open(database) as record:
            record.append(make_row())
            raise LookupError("from the body")

    with pytest.raises(LookupError, match="from the body"):
        await body()
    assert await database.read(lambda c: c.execute("SELECT count(*) FROM record").fetchone()) == (1,)


@pytest.mark.spec("K2")
async def test_open_call_is_noted_until_its_last_row(record: Record, make_row: MakeRow, database: Database) -> None:
    row = make_row(outcome="executing")
    record.add_open_call(row)
    await record.flush()
    assert await database.read(open_calls) == [f'"{row.call_id}"']
    record.append(row._replace(outcome="ok"))
    await record.flush()
    assert await database.read(open_calls) == []


async def test_short_call_leaves_no_note(record: Record, make_row: MakeRow, database: Database) -> None:
    row = make_row()
    record.add_open_call(row)
    record.append(row)
    await record.flush()
    assert await database.read(open_calls) == []


async def test_decision_about_an_open_call_does_not_end_it(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    row = make_row()
    record.add_open_call(row)
    record.append(row._replace(kind="decision"))
    await record.flush()
    assert len(await database.read(open_calls)) == 1


async def test_refused_repetition_of_an_id_does_not_end_the_call_that_runs(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    row = make_row()
    record.add_open_call(row)
    record.append(row._replace(time_ms=row.time_ms + 1, outcome="approval_not_found"))
    await record.flush()
    assert len(await database.read(open_calls)) == 1


@pytest.mark.spec("K2")
async def test_call_left_open_is_interrupted_at_the_next_start(database: Database, make_row: MakeRow) -> None:
    row = make_row(outcome="executing", duration_ms=None)
    async with Record.open(database) as record:
        await record.commit_open_call(row, is_durable=True)
    async with Record.open(database) as record:
        assert record.interrupted == (row._replace(outcome="interrupted"),)
        assert [each.row.outcome for each in await record.read_page()] == ["interrupted"]
    async with Record.open(database) as record:
        assert record.interrupted == ()
        assert (await record.verify()).rows == 1


async def test_page_and_count_are_of_one_moment(record: Record, make_row: MakeRow, database: Database) -> None:
    """A row is written between the two questions, as the writer's own connection may."""
    record.append(make_row())
    await record.flush()

    def ask(connection: sqlite3.Connection) -> RecordPage:
        def write_before_the_count(statement: str) -> None:
            if "count(*)" in statement:
                with closing(sqlite3.connect(database.path)) as other, other:
                    row = other.execute("SELECT * FROM record").fetchone()
                    other.execute(f"INSERT INTO record VALUES ({', '.join('?' * len(row))})", (2, *row[1:]))

        connection.set_trace_callback(write_before_the_count)
        wanted = RecordFilter(tool="read_file")
        return read_live_page(wanted, 0, 100, wanted, connection)

    page = await database.read(ask)
    assert [row.seq for row in page.rows] == [1]
    assert page.total == 1
    assert await record.count_rows() == 2


async def test_durable_rows_are_committed_when_the_call_returns(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    record.append(make_row(kind="decision", decision="approve"))
    await record.flush(is_durable=True)
    assert await database.read(lambda c: c.execute("SELECT decision FROM record").fetchone()) == ("approve",)


async def test_filters_and_pages(record: Record, make_row: MakeRow) -> None:
    for number in range(10):
        record.append(make_row(tool=f"tool_{number % 2}", module=f"m{number % 5}", session_id=f"s{number}"))
    record.append(make_row(outcome="timeout", arguments='{"text":"100%_Sure"}'))
    record.append(make_row(kind="decision"))

    async def seqs(**wanted: Any) -> list[int]:
        filtered = RecordFilter(**wanted)
        found = [each.seq for each in await record.read_page(filtered)]
        assert await record.count_rows(filtered) == len(found)
        return found

    assert await seqs(tool="tool_1") == [10, 8, 6, 4, 2]
    assert await seqs(module="m3", tool="tool_1") == [4]
    assert await seqs(session_id="s7") == [8]
    assert await seqs(outcome="timeout") == [11]
    assert await seqs(outcome="failed") == [11]
    assert await seqs(call_id="call_7") == [7]
    assert await seqs(parent_call_id="nobody") == []
    assert await seqs(after_seq=9, before_seq=12) == [11, 10]
    assert await seqs(outcome="ok", tool="tool_0", module="m0") == [1]
    assert await seqs(kind="decision") == [12]
    assert await seqs(text="100%_sure") == [11]
    assert await seqs(text="0%_s%") == []
    assert await seqs(text="call_7") == [7]
    assert await seqs(text="\ud800") == []
    assert [each.seq for each in await record.read_page(before_seq=5, limit=2)] == [4, 3]
    assert [each.seq for each in await record.read_page(before_seq=5, skip=1, limit=2)] == [3, 2]
    assert await record.read_page(limit=-1) == []


@pytest.mark.parametrize(
    "wanted",
    [RecordFilter(tool="x"), RecordFilter(module="x"), RecordFilter(session_id="x"), RecordFilter(outcome="x")],
)
async def test_filters_use_an_index(record: Record, database: Database, wanted: RecordFilter) -> None:
    def plan(connection: sqlite3.Connection) -> str:
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        wanted.read_page(0, 10, connection)
        connection.set_trace_callback(None)
        return " ".join(row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + seen[0]))

    assert "USING INDEX record_by_" in await database.read(plan)


async def test_text_that_utf8_cannot_express_is_kept_as_escapes(record: Record, make_row: MakeRow) -> None:
    record.append(make_row(tool="\ud83d", arguments='{"a":"\udc00"}', call_id="\ud800"))
    record.append(make_row(tool="😀", arguments="日本語 ü \x00"))
    found = await record.read_page()
    assert [each.row.tool for each in found] == ["😀", "\\ud83d"]
    assert [each.row.arguments for each in found] == ["日本語 ü \x00", '{"a":"\\udc00"}']
    assert (await record.verify()).is_intact


async def test_any_call_id_can_be_noted_and_ended(record: Record, make_row: MakeRow, database: Database) -> None:
    row = make_row(call_id="\ud800")
    await record.commit_open_call(row, is_durable=True)
    assert len(await database.read(open_calls)) == 1
    record.append(row)
    await record.flush()
    assert await database.read(open_calls) == []


@pytest.mark.spec("S7")
async def test_full_disk_keeps_rows_and_says_so_until_there_is_room(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    """A commit fails with everybody told once; with room again, the same rows are written, in order, once."""
    await limit_pages(database, 0)
    rows = [make_row(arguments="x" * 5000) for _ in range(20)]
    with capture_logs() as logs:
        for row in rows:
            record.append(row)
        for _ in range(3):
            with pytest.raises(RecordWriteError, match="full"):
                await record.flush()
        await limit_pages(database, 100_000)
        await record.flush()
    assert [each.row for each in reversed(await record.read_page())] == rows
    assert [entry["event"] for entry in logs] == ["record_write_failed", "record_write_recovered"]
    assert record.counts["failed_commits"] >= 3
    assert record.counts["lost"] == 0
    assert (await record.verify()).is_intact


@pytest.mark.spec("S7")
async def test_disk_that_is_really_full_harms_nothing(small_disk: Path, make_row: MakeRow) -> None:
    """Fill a small file system, see commits fail, make room, and find every row in the end."""
    async with Database.open(small_disk / "state.sqlite3") as database, Record.open(database) as record:
        record.append(make_row())
        await record.flush(is_durable=True)
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        for _ in range(20):
            record.append(make_row(arguments="x" * 5000))
        with pytest.raises(RecordWriteError, match="full"):
            await record.flush()
        filler.unlink()
        await record.flush()
        assert (await record.verify()).rows == 21
    assert verify_record(small_disk / "state.sqlite3").is_intact


@pytest.mark.spec("K2")
async def test_call_that_could_not_be_noted_durably_is_refused_and_not_open(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    await limit_pages(database, 0)
    with pytest.raises(RecordWriteError):
        await record.commit_open_call(make_row(arguments="x" * 20_000), is_durable=True)
    await limit_pages(database, 1000)
    await record.flush()
    assert await database.read(open_calls) == []


async def test_calls_that_begin_and_end_while_the_disk_is_full_are_followed(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    await limit_pages(database, 0)
    ends_early, stays = make_row(arguments="x" * 20_000), make_row(arguments="x" * 20_000)
    record.add_open_call(ends_early)
    record.add_open_call(stays)
    with pytest.raises(RecordWriteError):
        await record.flush()
    record.append(ends_early)
    await limit_pages(database, 1000)
    await record.flush()
    assert await database.read(open_calls) == [f'"{stays.call_id}"']
    assert await record.count_rows() == 1


async def test_noted_call_that_ends_while_the_disk_is_full_is_not_open_afterwards(
    record: Record, make_row: MakeRow, database: Database
) -> None:
    row = make_row(arguments="x" * 20_000)
    await record.commit_open_call(row, is_durable=True)
    await limit_pages(database, 0)
    record.append(row)
    with pytest.raises(RecordWriteError):
        await record.flush()
    assert len(await database.read(open_calls)) == 1
    await limit_pages(database, 1000)
    await record.flush()
    assert await database.read(open_calls) == []


@pytest.mark.spec("S7")
async def test_rows_lost_while_the_disk_is_full_are_told_of_once_there_is_room(
    database: Database, make_row: MakeRow
) -> None:
    async with Record.open(database, queue_rows=4) as record:
        await limit_pages(database, 0)
        for _ in range(3):
            for _ in range(4):
                record.append(make_row(arguments="x" * 5000))
            with pytest.raises(RecordWriteError):
                await record.flush()
        await limit_pages(database, 1000)
        await record.flush()
        assert (await record.read_page())[0].row.arguments == '{"rows": 8}'
        assert await record.count_rows() == 5


@pytest.mark.spec("S7")
async def test_rows_beyond_the_queue_are_counted_and_the_record_tells_of_them(
    database: Database, make_row: MakeRow
) -> None:
    async with Record.open(database, queue_rows=10) as record:
        with capture_logs() as logs:
            for _ in range(14):
                record.append(make_row())
        assert record.is_full
        await record.drain()
        assert not record.is_full
        newest = (await record.read_page())[0].row
        assert (newest.kind, newest.outcome, newest.arguments) == ("notice", "rows_lost", '{"rows": 4}')
        assert record.counts == {"written": 11, "lost": 4, "failed_commits": 0}
        assert [entry["event"] for entry in logs] == ["record_rows_lost"]
        assert (await record.verify()).is_intact


async def test_drain_tells_when_nothing_can_be_written(database: Database, make_row: MakeRow) -> None:
    async with Record.open(database, queue_rows=4) as record:
        await limit_pages(database, 0)
        for _ in range(4):
            record.append(make_row(arguments="x" * 5000))
        with pytest.raises(RecordWriteError):
            await record.drain()
        await limit_pages(database, 100)


@pytest.mark.parametrize(
    "fields", [{"tool": {"a": 1}}, {"time_ms": 2**70}, {"arguments": None}, {"duration_ms": "long"}, {"tool": None}]
)
async def test_malformed_row_is_left_out_and_takes_no_other_with_it(
    record: Record, make_row: MakeRow, fields: dict[str, object]
) -> None:
    record.append(make_row(tool="before"))
    record.append(make_row(**fields))
    record.append(make_row(tool="after"))
    with pytest.raises(RecordWriteError):
        await record.flush()
    await record.flush()
    outcomes = [(each.row.tool, each.row.outcome) for each in reversed(await record.read_page())]
    assert outcomes == [("before", "ok"), ("after", "ok"), ("", "rows_lost")]


async def test_malformed_open_call_is_left_out(record: Record, make_row: MakeRow, database: Database) -> None:
    with pytest.raises(RecordWriteError):
        await record.commit_open_call(make_row(tool=object()), is_durable=True)
    await record.flush()
    assert await database.read(open_calls) == []


async def test_arguments_do_not_reach_the_drivers_log(
    record: Record, make_row: MakeRow, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "aiosqlite")
    await record.commit_open_call(make_row(arguments="the-arguments"), is_durable=True)
    record.append(make_row(arguments="the-arguments"))
    await record.flush(is_durable=True)
    await record.read_page(RecordFilter(text="the-arguments"))
    assert "executing" in caplog.text
    assert "the-arguments" not in caplog.text


async def test_failure_that_nobody_foresaw_is_told_and_tried_again(record: Record, make_row: MakeRow) -> None:
    class Explosive(str):
        is_lit = True

        def isascii(self) -> bool:
            if self.is_lit:
                raise MemoryError("no room")
            return True

    arguments = Explosive("{}")
    record.append(make_row(arguments=arguments))
    with pytest.raises(RecordWriteError, match="no room"):
        await record.flush(is_durable=True)
    arguments.is_lit = False
    await record.flush()
    assert await record.count_rows() == 1


async def test_closed_record_takes_no_more(database: Database, make_row: MakeRow) -> None:
    async with Record.open(database) as record:
        pass
    with capture_logs() as logs:
        record.append(make_row())
    assert [entry["event"] for entry in logs] == ["record_rows_lost"]
    with pytest.raises(RecordWriteError, match="closed"):
        await record.flush()


async def test_rows_that_cannot_be_written_at_the_end_are_reported(database: Database, make_row: MakeRow) -> None:
    with capture_logs() as logs:
        async with Record.open(database) as record:
            await limit_pages(database, 0)
            record.append(make_row(arguments="x" * 20_000))
    assert [entry["event"] for entry in logs] == ["record_write_failed", "record_rows_lost_at_the_end"]


async def test_table_refuses_to_be_changed_in_passing(
    record: Record, make_row: MakeRow, database: Database, database_path: Path
) -> None:
    record.append(make_row())
    await record.flush(is_durable=True)
    for statement in ("DELETE FROM record", "UPDATE record SET outcome = 'ok'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            await database.write(lambda c, statement=statement: c.execute(statement) and None)
