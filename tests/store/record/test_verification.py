"""Whoever changes the record afterwards is found out."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agentcore.store.database.database import Database
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.record import Record
from agentcore.store.record.verification import verify_record
from agentcore.store.state.state_errors import RecordUnreadableError

AUDITED = [name for name in CallRow._fields if name != "arguments"]


@pytest.fixture
async def recorded(database_path: Path, make_row: Callable[..., CallRow]) -> Path:
    """A database with ten rows that nobody holds."""
    async with Database.open(database_path) as database, Record.open(database) as record:
        for _ in range(10):
            record.append(make_row())
    return database_path


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody would who can write it."""
    connection = sqlite3.connect(path)
    for trigger in ("record_is_not_changed", "record_is_not_shortened"):
        connection.execute(f"DROP TRIGGER {trigger}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.spec("S7")
def test_untouched_record_is_intact(recorded: Path) -> None:
    report = verify_record(recorded)
    assert (report.is_intact, report.rows, report.broken_seq) == (True, 10, None)


@pytest.mark.spec("S7")
@pytest.mark.parametrize("column", AUDITED)
def test_change_of_any_audited_column_is_found(recorded: Path, column: str) -> None:
    value = "7" if column in ("time_ms", "duration_ms") else "'other'"
    tamper(recorded, f"UPDATE record SET {column} = {value} WHERE seq = 4")
    report = verify_record(recorded)
    assert (report.is_intact, report.rows, report.broken_seq) == (False, 3, 4)
    assert "row 4 was changed" in report.reason


@pytest.mark.spec("S7")
@pytest.mark.parametrize("column", ["duration_ms", "resource_id", "parent_call_id"])
def test_value_taken_away_is_found(recorded: Path, column: str) -> None:
    tamper(recorded, f"UPDATE record SET {column} = NULL WHERE seq = 10")
    assert verify_record(recorded).broken_seq == 10


@pytest.mark.spec("S7")
def test_changed_hash_is_found(recorded: Path) -> None:
    tamper(recorded, "UPDATE record SET hash = zeroblob(32) WHERE seq = 4")
    assert verify_record(recorded).broken_seq == 4


@pytest.mark.spec("S7")
@pytest.mark.parametrize(("gone", "reason"), [(1, "row 2 follows"), (5, "row 6 follows"), (10, "at the end")])
def test_row_that_is_missing_is_found(recorded: Path, gone: int, reason: str) -> None:
    tamper(recorded, f"DELETE FROM record WHERE seq = {gone}")
    report = verify_record(recorded)
    assert (report.is_intact, report.broken_seq) == (False, gone)
    assert reason in report.reason


@pytest.mark.spec("S7")
def test_row_deleted_with_the_later_ones_moved_up_is_found(recorded: Path) -> None:
    tamper(recorded, "DELETE FROM record WHERE seq = 5", "UPDATE record SET seq = seq - 1 WHERE seq > 5")
    assert verify_record(recorded).broken_seq == 5


@pytest.mark.spec("S7")
def test_exchanged_rows_are_found(recorded: Path) -> None:
    exchange = ["UPDATE record SET seq = 99 WHERE seq = 3", "UPDATE record SET seq = 3 WHERE seq = 4"]
    tamper(recorded, *exchange, "UPDATE record SET seq = 4 WHERE seq = 99")
    assert verify_record(recorded).broken_seq == 3


@pytest.mark.spec("S7")
def test_copied_row_at_the_end_is_found(recorded: Path) -> None:
    columns = ", ".join((*CallRow._fields, "hash"))
    tamper(recorded, f"INSERT INTO record (seq, {columns}) SELECT 11, {columns} FROM record WHERE seq = 10")
    assert verify_record(recorded).broken_seq == 11


@pytest.mark.spec("S7")
def test_emptied_record_is_found(recorded: Path) -> None:
    tamper(recorded, "DELETE FROM record")
    report = verify_record(recorded)
    assert (report.broken_seq, report.reason) == (1, "the rows 1 to 10 at the end are missing")


@pytest.mark.spec("S7")
def test_exchanged_end_of_the_chain_is_found(recorded: Path) -> None:
    tamper(recorded, "UPDATE record_head SET hash = zeroblob(32)")
    report = verify_record(recorded)
    assert not report.is_intact
    assert "another hash" in report.reason


@pytest.mark.spec("S7")
def test_chain_can_be_followed_by_somebody_elses_program(recorded: Path) -> None:
    connection = sqlite3.connect(recorded)
    rows = connection.execute(f"SELECT {', '.join(AUDITED)} FROM record ORDER BY seq").fetchall()
    connection.close()
    last = bytes(32)
    for row in rows:
        last = hashlib.sha256(last + json.dumps(row, separators=(",", ":")).encode()).digest()
    assert verify_record(recorded).head == last.hex()


def test_new_database_verifies(database_path: Path, database: Database) -> None:
    assert verify_record(database_path).rows == 0


async def test_record_in_use_can_be_verified_from_outside(
    database: Database, database_path: Path, make_row: Callable[..., CallRow]
) -> None:
    async with Record.open(database) as record:
        record.append(make_row())
        await record.flush(is_durable=True)
        assert verify_record(database_path).rows == 1


@pytest.mark.parametrize("content", [None, b"no database at all", b""])
def test_place_without_a_record_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "other.sqlite3"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordUnreadableError, match=r"other\.sqlite3"):
        verify_record(path)
    assert path.exists() == (content is not None)
