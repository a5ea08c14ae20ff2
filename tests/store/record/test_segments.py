"""Older rows move to compressed files, which stay part of the record until a limit is reached."""

import gzip
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from agentcore.store.database.database import Database
from agentcore.store.database.schema import MIGRATIONS, run_migrations
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.commit_group import RecordGroup
from agentcore.store.record.query import RecordFilter, export_rows, read_record
from agentcore.store.record.record import Record
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.record.segments import SegmentBrokenError, segments_folder
from agentcore.store.record.verification import verify_record
from agentcore.store.state.state_errors import RecordUnreadableError

ROWS = 20
"""Rows of a segment in these tests."""

MakeRow = Callable[..., CallRow]
LATER_MS = 4_000_000_000_000
"""A time that no limit of age reaches."""

PLENTY = RecordLimits(1 << 40, 100_000)


@pytest.fixture
async def record(database: Database) -> AsyncIterator[Record]:
    async with Record.open(database) as record:
        yield record


@pytest.fixture
async def filled(database: Database, record: Record, make_row: MakeRow) -> Record:
    """A record with 110 rows, of which 80 are in four files."""
    for number in range(110):
        arguments = json.dumps({"word": f"Nr-{number:03}	“é”"}, ensure_ascii=False)
        record.append(make_row(time_ms=LATER_MS + number, tool=f"tool_{number % 10}", arguments=arguments))
    await record.flush()
    await RecordKeeper(database, record, PLENTY, ROWS).tidy()
    return record


def count_live_rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        count: int = connection.execute("SELECT count(*) FROM record").fetchone()[0]
        return count


def list_files(path: Path) -> list[str]:
    return sorted(file.name for file in segments_folder(path).iterdir())


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    """Change a compressed file as somebody would who can write it."""
    content = gzip.decompress(path.read_bytes())
    assert old in content
    path.write_bytes(gzip.compress(content.replace(old, new, 1)))


@pytest.mark.spec("S7")
async def test_older_rows_are_moved_and_still_listed_shown_verified_and_exported(
    filled: Record, database_path: Path
) -> None:
    assert count_live_rows(database_path) == 30
    assert len(list_files(database_path)) == 4
    everything = await filled.read_page(limit=1000)
    assert [recorded.seq for recorded in everything] == list(range(110, 0, -1))
    assert everything[-1].row.arguments == '{"word": "Nr-000\\t“é”"}'
    assert read_record(database_path, RecordFilter(), 1000) == everything
    assert list(export_rows(database_path)) == everything[::-1]
    report = verify_record(database_path)
    assert (report.is_intact, report.rows) == (True, 110)
    assert [segment.last_seq for segment in report.segments] == [20, 40, 60, 80]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RecordFilter(tool="tool_3"), [104, 94, 84, 74, 64, 54, 44, 34, 24, 14, 4]),
        (RecordFilter(text="nr-00"), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (RecordFilter(text="“é”", before_seq=3), [2, 1]),
        (RecordFilter(call_id="call_30"), [30]),
        (RecordFilter(after_seq=38, before_seq=42), [41, 40, 39]),
        (RecordFilter(outcome="failed"), []),
        (RecordFilter(tool="no%"), []),
    ],
)
async def test_filter_selects_the_same_rows_in_files(
    filled: Record, database_path: Path, wanted: RecordFilter, expected: list[int]
) -> None:
    assert [recorded.seq for recorded in await filled.read_page(wanted, limit=100)] == expected
    assert [recorded.seq for recorded in read_record(database_path, wanted, 100)] == expected


@pytest.mark.parametrize("wanted", [RecordFilter(), RecordFilter(tool="tool_3"), RecordFilter(text="nr-0")])
@pytest.mark.parametrize("limit", [1, 7, 40])
async def test_bounded_pages_lead_through_the_whole_record(filled: Record, wanted: RecordFilter, limit: int) -> None:
    seen: list[int] = []
    page = await filled.read_bounded_page(wanted, limit=limit)
    while True:
        seen += [recorded.seq for recorded in page.rows]
        if page.next_seq is None:
            break
        page = await filled.read_bounded_page(
            RecordFilter(tool=wanted.tool, text=wanted.text, before_seq=page.next_seq), limit=limit
        )
    assert seen == [recorded.seq for recorded in await filled.read_page(wanted, limit=1000)]


async def test_rows_of_all_segments_are_counted_and_can_be_skipped(filled: Record) -> None:
    page = await filled.read_bounded_page(RecordFilter(), skip=100, limit=3, must_count=True)
    assert [recorded.seq for recorded in page.rows] == [10, 9, 8]
    filtered = await filled.read_bounded_page(RecordFilter(tool="tool_3"), must_count=True)
    assert (filtered.total, filtered.total_since) == (3, 81)
    whole = await filled.read_bounded_page(RecordFilter(), must_count=True)
    assert (whole.total, whole.total_since) == (110, None)


@pytest.mark.spec("S7")
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"tool_5"', b'"tool_6"', "was changed"),
        (b"#40 ", b"#39 ", "was changed"),
        (b'"first_seq": 21', b'"first_seq": 22', "header"),
    ],
)
async def test_changed_file_is_found(filled: Record, database_path: Path, old: bytes, new: bytes, reason: str) -> None:
    rewrite(segments_folder(database_path) / list_files(database_path)[1], old, new)
    report = verify_record(database_path)
    assert (report.is_intact, report.rows, report.broken_seq) == (False, 20, 21)
    assert reason in report.reason


@pytest.mark.spec("S7")
async def test_file_that_is_missing_or_damaged_is_named_and_newer_rows_stay_readable(
    filled: Record, database: Database, database_path: Path
) -> None:
    second, third = (segments_folder(database_path) / name for name in list_files(database_path)[1:3])
    second.unlink()
    third.write_bytes(third.read_bytes()[:-40])
    assert verify_record(database_path).broken_seq == 21
    with pytest.raises(RecordUnreadableError, match="rows 41 to 60 is damaged"):
        await filled.read_page(limit=1000)
    assert len(await filled.read_page(limit=50)) == 50
    keeper = RecordKeeper(database, filled, PLENTY, ROWS)
    await keeper.verify_files()
    assert list(keeper.problems) == ["rows 21 to 40", "rows 41 to 60"]


@pytest.mark.spec("S7")
async def test_rows_beyond_the_limit_are_deleted_with_a_notice_that_the_chain_covers(
    filled: Record, database: Database, database_path: Path
) -> None:
    heads = [segment.head for segment in verify_record(database_path).segments]
    await RecordKeeper(database, filled, RecordLimits(1, 100_000), ROWS).tidy()
    assert list_files(database_path) == []
    notices = await filled.read_page(RecordFilter(kind="notice"))
    assert [json.loads(notice.row.arguments)["head"] for notice in notices] == heads[::-1]
    report = verify_record(database_path)
    assert (report.is_intact, report.rows, report.deleted) == (True, 114, 80)
    page = await filled.read_bounded_page(RecordFilter(before_seq=81), must_count=True)
    assert (page.rows, page.next_seq, page.total) == ([], None, 0)
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("UPDATE record_segments SET head = zeroblob(32) WHERE last_seq = 80")
    assert not verify_record(database_path).is_intact


@pytest.mark.spec("S7")
async def test_rows_that_were_deleted_without_a_notice_are_missed(filled: Record, database_path: Path) -> None:
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("UPDATE record_segments SET deleted_at_ms = 1 WHERE number = 1")
    report = verify_record(database_path)
    assert (report.is_intact, report.broken_seq) == (False, 1)
    assert "no notice" in report.reason


async def test_rows_older_than_the_limit_are_deleted(
    database: Database, database_path: Path, record: Record, make_row: MakeRow
) -> None:
    for _ in range(5):
        record.append(make_row())  # of 2023
    record.append(make_row(time_ms=LATER_MS))
    await record.flush()
    await RecordKeeper(database, record, RecordLimits(1 << 40, 100), ROWS).tidy()
    assert [recorded.seq for recorded in await record.read_page(RecordFilter(kind="call"))] == [6]
    assert verify_record(database_path).deleted == 5


@pytest.mark.spec("S7")
async def test_rows_that_are_not_in_a_file_cannot_be_deleted(filled: Record, database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        await database.write(lambda connection: connection.execute("DELETE FROM record WHERE seq = 81"))


@pytest.mark.spec("S7")
async def test_changed_row_is_not_moved(
    database: Database, database_path: Path, record: Record, make_row: MakeRow
) -> None:
    for _ in range(50):
        record.append(make_row(time_ms=LATER_MS))
    await record.flush()
    with closing(sqlite3.connect(database_path)) as connection, connection:
        connection.execute("DROP TRIGGER record_is_not_changed")
        connection.execute("UPDATE record SET tool = 'other' WHERE seq = 7")
    keeper = RecordKeeper(database, record, PLENTY, ROWS)
    with pytest.raises(SegmentBrokenError, match="row 7"):
        await keeper.tidy()
    assert count_live_rows(database_path) == 50
    assert verify_record(database_path).broken_seq == 7


async def test_calls_of_clients_are_counted_over_files_too(
    database: Database, record: Record, make_row: MakeRow
) -> None:
    for number in range(60):
        record.append(make_row(time_ms=LATER_MS, principal_kind="mcp", principal_id=f"client_{number % 2}"))
    await record.flush()
    before = await record.count_calls_by_client()
    await RecordKeeper(database, record, PLENTY, ROWS).tidy()
    assert await record.count_calls_by_client() == before


async def test_interrupted_move_is_repeated(
    filled: Record, database: Database, database_path: Path, make_row: MakeRow
) -> None:
    """A process that is killed after it wrote a file leaves one that the database does not know."""
    folder = segments_folder(database_path)
    (folder / "000000000081-000000000100.jsonl.gz").write_bytes(b"half")
    (folder / "000000000081-000000000100.jsonl.gz.partial").write_bytes(b"half")
    for _ in range(20):
        filled.append(make_row(time_ms=LATER_MS))
    await filled.flush()
    await RecordKeeper(database, filled, PLENTY, ROWS).tidy()
    assert len(list_files(database_path)) == 5
    assert verify_record(database_path).rows == 130


async def test_files_of_a_database_that_was_taken_away_are_kept(
    filled: Record, database_path: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "state.sqlite3"
    other.parent.mkdir()
    segments_folder(database_path).rename(segments_folder(other))
    async with Database.open(other) as database, Record.open(database) as record:
        await RecordKeeper(database, record, PLENTY, ROWS).tidy()
    (kept,) = other.parent.glob("record.before-*")
    assert len(list(kept.iterdir())) == 4


async def test_interrupted_verification_goes_on_where_it_was(filled: Record, database_path: Path) -> None:
    class StopHereError(Exception):
        pass

    def interrupt(row: int, last: int) -> None:
        if row > 40:
            raise StopHereError

    with pytest.raises(StopHereError):
        verify_record(database_path, interrupt, may_resume=True)
    seen: list[tuple[int, int]] = []
    report = verify_record(database_path, lambda row, last: seen.append((row, last)), may_resume=True)
    assert (report.is_intact, report.rows, report.resumed_after) == (True, 110, 40)
    assert seen == [(60, 110), (80, 110)]
    assert len(report.segments) == 4
    assert verify_record(database_path, may_resume=True).resumed_after == 0


async def test_record_of_an_earlier_version_is_read_and_verified_before_a_server_opens_it(
    database_path: Path, make_row: MakeRow
) -> None:
    before = next(number for number, step in enumerate(MIGRATIONS) if "record_segments" in str(step))
    with closing(sqlite3.connect(database_path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        run_migrations(connection, 0, last=before)
        RecordGroup([make_row(), make_row()]).write(connection)
        connection.execute("COMMIT")
    assert [recorded.seq for recorded in read_record(database_path, RecordFilter(), 10)] == [2, 1]
    assert [recorded.seq for recorded in export_rows(database_path)] == [1, 2]
    assert verify_record(database_path).rows == 2
