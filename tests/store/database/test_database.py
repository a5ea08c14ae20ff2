"""The database in use: transactions, what survives, what is kept when it is broken."""

import asyncio
import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agentcore.store.chat.chat_store import ChatStore
from agentcore.store.database.database import Database, DatabaseDamagedError
from agentcore.store.database.schema import run_migrations
from agentcore.store.seen_definitions import SeenDefinitions, SeenRow
from agentcore.store.state.state_errors import DatabaseTooNewError, DatabaseUnusableError

_BEFORE_ORDER = 20
"""The schema whose table of seen definitions has a column before one of its key."""
_BEFORE_HOSTS = 21
_BEFORE_ACCOUNTS = 25


def make_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE words (word TEXT NOT NULL) STRICT")


def add_word(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO words VALUES ('kept')")


def count_words(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT count(*) FROM words").fetchone()[0]


def damage_middle(path: Path) -> bytes:
    """Overwrite a page in the middle of a file; returns what it holds then."""
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(content)
    return bytes(content)


async def fill(path: Path) -> None:
    async with Database.open(path) as database:
        await database.write(make_table)
        for _ in range(200):
            await database.write(lambda c: c.execute("INSERT INTO words VALUES (?)", ("x" * 1000,)) and None)


async def test_write_is_seen_by_reads(database: Database) -> None:
    await database.write(make_table)
    await database.write(add_word)
    assert await database.read(count_words) == 1


async def test_unit_of_work_that_raises_leaves_nothing_behind(database: Database) -> None:
    await database.write(make_table)

    def half(connection: sqlite3.Connection) -> None:
        add_word(connection)
        raise LookupError("in the middle")

    with pytest.raises(LookupError, match="in the middle"):
        await database.write(half)
    assert await database.read(count_words) == 0


async def test_cancelled_caller_does_not_cut_a_transaction_in_half(database: Database) -> None:
    await database.write(make_table)
    entered, go_on = threading.Event(), threading.Event()

    def slow(connection: sqlite3.Connection) -> None:
        add_word(connection)
        entered.set()
        go_on.wait(30)
        add_word(connection)

    task = asyncio.ensure_future(database.write(slow))
    await asyncio.to_thread(entered.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await database.write(lambda _connection: None)
    assert await database.read(count_words) == 2


async def test_reader_cannot_write(database: Database) -> None:
    await database.write(make_table)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await database.read(add_word)


@pytest.mark.spec("S2")
async def test_file_and_its_side_files_are_private(database: Database, database_path: Path) -> None:
    await database.write(make_table)
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database_path.parent.iterdir()}
    assert set(files) == {"state.sqlite3", "state.sqlite3-wal", "state.sqlite3-shm", "state.sqlite3.in-use"}
    assert set(files.values()) == {0o600}


async def test_durable_write_syncs_and_the_next_one_does_not(database: Database) -> None:
    def level(connection: sqlite3.Connection) -> int:
        return connection.execute("PRAGMA synchronous").fetchone()[0]

    normal, full = 1, 2
    assert await database.write(level, is_durable=True) == full
    assert await database.write(level) == normal


async def test_clean_end_leaves_one_file_and_how_it_was_left(database_path: Path) -> None:
    await fill(database_path)
    files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database_path.parent.iterdir()}
    assert files == {"state.sqlite3": 0o600, "state.sqlite3.left": 0o600}


async def test_reopened_database_has_its_rows(database_path: Path) -> None:
    await fill(database_path)
    async with Database.open(database_path) as database:
        assert await database.read(count_words) == 200
        assert database.broken_path is None


@pytest.mark.spec("S7")
async def test_file_that_is_no_database_is_kept_and_a_new_one_begun_loudly(database_path: Path) -> None:
    database_path.write_bytes(b"this was a database once" * 1000)
    with capture_logs() as logs:
        async with Database.open(database_path) as database:
            await database.write(make_table)
            assert database.broken_path.read_bytes().startswith(b"this was a database once")
            assert "broken" in database.broken_path.name
    assert [(entry["event"], entry["log_level"]) for entry in logs] == [("database_broken", "error")]


@pytest.mark.spec("S7")
async def test_damage_inside_the_file_is_found_after_an_unclean_end(database_path: Path) -> None:
    await fill(database_path)
    content = damage_middle(database_path)
    database_path.with_name("state.sqlite3.in-use").touch()
    async with Database.open(database_path) as database:
        assert database.broken_path.read_bytes() == bytes(content)
        with pytest.raises(sqlite3.OperationalError, match="no such table: words"):
            await database.read(count_words)


@pytest.mark.spec("S7")
async def test_damage_after_an_orderly_end_is_found_at_the_next_start(database_path: Path) -> None:
    await fill(database_path)
    content = damage_middle(database_path)
    with capture_logs() as logs:
        async with Database.open(database_path) as database:
            assert database.broken_path.read_bytes() == content
    (told,) = logs
    assert (told["event"], told["kept_as"]) == ("database_broken", str(database.broken_path))
    assert "exc_info" not in told
    async with Database.open(database_path) as database:
        assert database.broken_path is None


async def test_copy_of_a_sound_file_is_used(database_path: Path) -> None:
    await fill(database_path)
    content = database_path.read_bytes()
    database_path.unlink()
    database_path.write_bytes(content)
    async with Database.open(database_path) as database:
        assert await database.read(count_words) == 200
        assert database.broken_path is None


async def test_sound_file_is_used_again_after_an_unclean_end(database_path: Path) -> None:
    await fill(database_path)
    database_path.with_name("state.sqlite3.in-use").touch()
    async with Database.open(database_path) as database:
        assert await database.read(count_words) == 200


@pytest.mark.spec("S7")
async def test_what_a_person_has_accepted_outlives_an_unclean_end_in_any_form_of_its_table(database_path: Path) -> None:
    """SQLite 3.40 takes a sound table for one with NULLs, where it has no rowid and a column before one of its key."""
    rows = [("mcp_time", f"time_{number}", "text", "accepted") for number in range(20)]
    connection = sqlite3.connect(database_path)
    run_migrations(connection, 0, _BEFORE_ORDER)
    connection.executemany("INSERT INTO seen_definitions (module, tool, definition, verdict) VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    for _ in range(2):
        database_path.with_name("state.sqlite3.in-use").touch()
        async with Database.open(database_path) as database:
            assert database.broken_path is None
            assert sorted(await SeenDefinitions(database).load()) == sorted(SeenRow(*row) for row in rows)


@pytest.mark.spec("H3")
async def test_sessions_of_before_there_were_hosts_have_none_chosen(database_path: Path) -> None:
    """Made by hand, as the version before wrote it."""
    connection = sqlite3.connect(database_path)
    run_migrations(connection, 0, _BEFORE_HOSTS)
    names = "session_id, owner, user_id, agent_id, model, title, steps, tokens, is_running"
    values = "'s1', 'page', '', 'default', '', 'T', 0, 0, 0"
    connection.execute(f"INSERT INTO chat_sessions ({names}, created_at_ms, last_used_at_ms) VALUES ({values}, 1, 1)")
    connection.commit()
    connection.close()
    async with Database.open(database_path) as database:
        chats = ChatStore(database)
        found = await chats.find_session("s1")
        assert found is not None
        assert (found.title, found.host) == ("T", None)
        await chats.update_session("s1", host="laptop")
    async with Database.open(database_path) as database:
        assert await ChatStore(database).hosts.find_host("s1") == "laptop"


@pytest.mark.spec("S7")
async def test_artifacts_of_before_there_were_quotas_count_on_who_sent_them(database_path: Path) -> None:
    """Made by hand, as the version before wrote it."""
    connection = sqlite3.connect(database_path)
    run_migrations(connection, 0, _BEFORE_ACCOUNTS)
    names = "artifact_id, mime, name, size_bytes, charged_bytes, created_at_ms, session_id, call_id, owner"
    for number, owner in enumerate(("", "page", "client:panel", "client:panel")):
        row = (f"art_{number:032x}", "text/plain", "a", 1, 4096, 1, "s1", "", owner)
        connection.execute(f"INSERT INTO artifacts ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()
    async with Database.open(database_path) as database:
        query = "SELECT account, charged_bytes FROM artifact_account_usage ORDER BY account"
        usage = await database.read(lambda connection: connection.execute(query).fetchall())
        assert usage == [("", 8192), ("client:panel", 8192)]
        delete = "DELETE FROM artifacts WHERE owner = 'page'"
        await database.write(lambda connection: connection.execute(delete).rowcount)
        usage = await database.read(lambda connection: connection.execute(query).fetchall())
        assert usage == [("", 4096), ("client:panel", 8192)]


async def test_new_file_has_what_all_steps_lead_to(tmp_path: Path) -> None:
    """A new file is copied from memory; one with the first step already goes through all others itself."""
    new_path = tmp_path / "new.sqlite3"
    old_path = tmp_path / "old.sqlite3"
    connection = sqlite3.connect(old_path)
    run_migrations(connection, 0, 1)
    connection.commit()
    connection.close()
    async with Database.open(new_path) as new, Database.open(old_path) as old:
        content = await new.read(read_content)
        assert content == await old.read(read_content)
    assert "artifact_usage" in content


def read_content(connection: sqlite3.Connection) -> dict[str, object]:
    entries = connection.execute("SELECT name, type, tbl_name, sql FROM sqlite_schema").fetchall()
    content: dict[str, object] = {"entries": sorted(entries, key=str)}
    for name, kind, *_ in entries:
        if kind == "table":
            content[name] = connection.execute(f"SELECT * FROM {name}").fetchall()
    for pragma in ("user_version", "journal_mode"):
        content[pragma] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return content


def test_no_table_has_columns_before_those_of_its_key_where_it_has_no_rowid() -> None:
    connection = sqlite3.connect(":memory:")
    run_migrations(connection, 0)
    made = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL").fetchall()
    tables = [name for name, sql in made if "WITHOUT ROWID" in sql]
    assert "approvals" in tables
    for name in tables:
        keys = [row[5] for row in connection.execute(f"PRAGMA table_info({name})")]  # from 1; 0: none of the key
        assert keys == sorted(keys, key=lambda key: key or len(keys)), name
    connection.close()


async def test_damage_met_in_use_has_the_next_start_look_through_the_file(database_path: Path) -> None:
    await fill(database_path)
    content = bytearray(database_path.read_bytes())
    with sqlite3.connect(database_path) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'words'").fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    start = (root - 1) * page_bytes
    # of that table alone: what says which tables there are may lie behind it
    content[start : start + page_bytes] = b"\xff" * page_bytes
    times = database_path.stat()
    database_path.write_bytes(content)
    os.utime(database_path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as where the disk does it
    async with Database.open(database_path) as database:
        with pytest.raises(DatabaseDamagedError, match=r"malformed.*start agentcore again"):
            await database.read(lambda c: c.execute("SELECT max(word) FROM words").fetchone())
    async with Database.open(database_path) as database:
        assert database.broken_path is not None


async def test_database_of_a_later_version_is_refused_and_left_alone(database_path: Path) -> None:
    async with Database.open(database_path) as database:
        await database.write(lambda c: c.execute("PRAGMA user_version = 99") and None)
    with pytest.raises(DatabaseTooNewError, match="schema 99"):
        async with Database.open(database_path):
            pass
    assert database_path.exists()


async def test_migration_that_fails_leaves_the_file_as_it_was(database_path: Path) -> None:
    with sqlite3.connect(database_path) as connection:
        connection.execute("CREATE TABLE artifacts (other TEXT)")
    connection.close()
    with pytest.raises(DatabaseUnusableError, match=r"already exists.* move it away"):
        async with Database.open(database_path):
            pass
    with sqlite3.connect(database_path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("artifacts",)]
    connection.close()


@pytest.mark.parametrize("number", [-1, -(2**31), 3])
async def test_file_with_a_schema_of_nobody_is_refused_and_left_as_it_was(database_path: Path, number: int) -> None:
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute("CREATE TABLE others (word TEXT)")
        connection.execute(f"PRAGMA user_version = {number}")
    with pytest.raises(DatabaseUnusableError, match="move it away"):
        async with Database.open(database_path):
            pass
    with closing(sqlite3.connect(database_path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("others",)]


async def test_folder_in_the_place_of_the_file_is_refused(database_path: Path) -> None:
    database_path.mkdir()
    with pytest.raises(DatabaseUnusableError, match="it is a folder"):
        async with Database.open(database_path):
            pass


@pytest.mark.parametrize("mark", [".in-use", ".left"])
async def test_file_that_was_emptied_is_kept_and_a_new_one_begun_loudly(database_path: Path, mark: str) -> None:
    await fill(database_path)
    database_path.with_name(database_path.name + ".left").unlink()
    database_path.with_name(database_path.name + mark).touch()
    database_path.write_bytes(b"")
    with capture_logs() as logs:
        async with Database.open(database_path) as database:
            assert database.broken_path.read_bytes() == b""
    assert [entry["event"] for entry in logs] == ["database_broken"]


async def test_folder_that_is_missing_is_no_broken_database(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with Database.open(tmp_path / "missing" / "state.sqlite3"):
            pass
