"""The steps of the schema: none changes any more, and files of every version that the main branch had can be used."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentcore.chat.turn import history
from agentcore.chat.turn.compaction.summary import Summary
from agentcore.store.approvals.approval_rows import ApprovalRow, GrantRow
from agentcore.store.approvals.approval_store import ApprovalStore
from agentcore.store.credentials.host_keys import HostKeys
from agentcore.store.database.database import Database
from agentcore.store.database.schema import MIGRATIONS, Statement, run_migrations
from agentcore.store.resource_indexes import ResourceIndexStore
from agentcore.store.state.state_errors import DatabaseTooNewError
from tests.store.database.earlier_steps import (
    STEP_3_AT_390AE931,
    STEP_12_AT_8AE6B0AE,
    STEP_22_AT_0182BB5A,
    STEP_22_AT_068900B0,
)

_FROZEN = (
    "27e2edd5f13cc2e9",
    "5493cb7aed954635",
    "2dfcdcbabf7ccbdf",
    "4a5b93d69ab47981",
    "dc25f318366ae191",
    "24a6f33cc702a0ef",
    "e6a2fd1b3ed483ea",
    "d35ca65c603fcb8c",
    "10a61a8e453654b0",
    "a63ca01782bff374",
    "80150e1261652e75",
    "58f85fb791d01b41",
    "51c2e71b60df261a",
    "443e3d8c31a7dceb",
    "971f8d89b6006665",
    "22763a40b89cf3f4",
    "2562d10b48bafab3",
    "19f066791cd4fa20",
    "241b42ebcf383abc",
    "074f9868177d4233",
    "1d4e575f3b9b526b",
    "b458e84e25159e21",
    "e3b0c44298fc1c14",
    "710867a5771360d8",
    "c7bbdcdb73a478fe",
    "44ec33a8cd6ff44b",
    "f050b2cba986496c",
    "161d431cbbb7a3d1",
    "14f79910d2ebdbc6",
    "f1a6978e39cd8629",
    "104843dc616431e4",
    "dc7af06986222c9e",
)
"""Of each step, in order. A new step adds a line; a line that is there never changes."""

_FIRST_REPAIRED = 23
_GRANT = GrantRow("g_new", "always", "", "chat", "note_add", "{}", "terminal", 2)


def digest_of(step: Sequence[Statement]) -> str:
    text = "\0".join(map(str, step))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_step(number: int, step: Sequence[Statement], count: int) -> tuple[Sequence[Statement], ...]:
    """The first steps of the schema, with an earlier form of one of them."""
    return (*MIGRATIONS[: number - 1], step, *MIGRATIONS[number:count])


_EARLIER: dict[str, tuple[Sequence[Statement], ...]] = {
    **{f"v{count}": MIGRATIONS[:count] for count in range(2, _FIRST_REPAIRED)},
    "v3 at 390ae931": with_step(3, STEP_3_AT_390AE931, 3),
    "v4 at 390ae931": with_step(3, STEP_3_AT_390AE931, 4),
    "v5 at 6dd2072a": with_step(3, STEP_3_AT_390AE931, 5),
    "v22 that was v5 at 6dd2072a": with_step(3, STEP_3_AT_390AE931, 22),
    "v12 at 8ae6b0ae": with_step(12, STEP_12_AT_8AE6B0AE, 12),
    "v22 that was v12 at 8ae6b0ae": with_step(12, STEP_12_AT_8AE6B0AE, 22),
    "v22 at 068900b0": with_step(22, STEP_22_AT_068900B0, 22),
    "v22 at 0182bb5a": with_step(22, STEP_22_AT_0182BB5A, 22),
    "v23 at b3b28811": (*MIGRATIONS[:21], STEP_22_AT_0182BB5A, STEP_22_AT_068900B0),
}
"""Files as versions of the main branch left them, by the steps that they went through."""


def build_database(path: Path, steps: Sequence[Sequence[Statement]]) -> None:
    """Make a file as a version with these steps had it, with a chat, an approval that waits and a grant."""
    connection = sqlite3.connect(path, isolation_level=None)
    for step in steps:
        for statement in step:
            assert isinstance(statement, str)
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(steps)}")
    columns = "session_id, owner, user_id, agent_id, model, title, steps, tokens, is_running"
    values = "'s1', 'page', '', 'default', '', 'A chat of before', 0, 0, 0, 1, 1"
    connection.execute(f"INSERT INTO chat_sessions ({columns}, created_at_ms, last_used_at_ms) VALUES ({values})")
    if len(steps) > 2:
        connection.execute("INSERT INTO approvals VALUES ('call_1', 's1', '{}', NULL, 9000000000000)")
        grant = "'g_old', 'always', '', 'note_add', '{}', 'terminal', 1"
        columns = "grant_id, scope, session_id, tool, arguments, granted_by, granted_at_ms"
        if "principal_kind" in str(steps[2]):
            columns, grant = f"{columns}, principal_kind", f"{grant}, 'chat'"
        connection.execute(f"INSERT INTO approval_grants ({columns}) VALUES ({grant})")
    connection.close()


def read_shape(connection: sqlite3.Connection) -> dict[str, object]:
    """Tables with their columns, in no order, and all else by its text."""
    shape: dict[str, object] = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema"):
        columns = [row[1:4] + row[5:] for row in connection.execute(f"PRAGMA table_info({name})")]
        shape[name] = sorted(columns) if kind == "table" else sql
    return shape


def insert_open_call(connection: sqlite3.Connection) -> None:
    connection.execute("""INSERT INTO open_calls VALUES ('"call_1"', 1, '{}')""")


def test_step_that_was_on_the_main_branch_never_changes() -> None:
    assert [digest_of(step) for step in MIGRATIONS] == list(_FROZEN)


@pytest.mark.slow
@pytest.mark.parametrize("name", _EARLIER)
@pytest.mark.spec("S7")
async def test_file_of_every_version_of_the_main_branch_is_brought_to_the_present_schema(
    database_path: Path, tmp_path: Path, name: str
) -> None:
    steps = _EARLIER[name]
    build_database(database_path, steps)
    async with Database.open(database_path) as database, Database.open(tmp_path / "new.sqlite3") as new:
        assert database.broken_path is None
        assert await database.read(read_shape) == await new.read(read_shape)
        titles = await database.read(lambda c: c.execute("SELECT title, host FROM chat_sessions").fetchall())
        assert titles == [("A chat of before", None)]
        await HostKeys.open(database)
        approvals = ApprovalStore(database)
        await approvals.save_call(ApprovalRow("call_1", "s1", "{}", None, 9_000_000_000_000))
        await approvals.save_decision(ApprovalRow("call_1", "s1", "{}", '"allowed"', 9_000_000_000_000), [_GRANT], [])
        assert (await approvals.load_grants())[-1] == _GRANT
        await database.write(insert_open_call)
        assert await approvals.load_calls(0) == [], "an approval is used up where its call begins"


@pytest.mark.parametrize("name", ["v5 at 6dd2072a", "v22"])
async def test_grant_that_does_not_say_whose_calls_it_holds_for_holds_for_none(database_path: Path, name: str) -> None:
    build_database(database_path, _EARLIER[name])
    async with Database.open(database_path) as database:
        grants = await ApprovalStore(database).load_grants()
    assert [grant.grant_id for grant in grants] == ([] if name.startswith("v5") else ["g_old"])


async def test_summary_is_made_again_only_where_it_does_not_say_what_was_untrusted(database_path: Path) -> None:
    build_database(database_path, _EARLIER["v22 that was v12 at 8ae6b0ae"])
    present = history.dump_message(Summary("They talked.").to_message((), 100, "en"))
    earlier = json.dumps([{"kind": "request", "parts": []}])
    with sqlite3.connect(database_path) as connection:
        for session_id, summary in (("kept", present), ("reset", earlier), ("text", "They talked.")):
            connection.execute(
                "INSERT INTO chat_sessions (session_id, owner, user_id, agent_id, model, title, steps, tokens,"
                " is_running, created_at_ms, last_used_at_ms, summary, summarised_before)"
                " VALUES (?, 'page', '', 'default', '', '', 0, 0, 0, 1, 1, ?, 7)",
                (session_id, summary),
            )
    connection.close()
    async with Database.open(database_path) as database:
        query = "SELECT session_id, summary, summarised_before FROM chat_sessions WHERE session_id <> 's1'"
        rows = await database.read(lambda c: c.execute(query).fetchall())
    assert sorted(rows) == [("kept", present, 7), ("reset", None, 0), ("text", None, 0)]


async def test_file_of_a_version_that_there_never_was_is_refused(database_path: Path) -> None:
    connection = sqlite3.connect(database_path)
    run_migrations(connection, 0)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.commit()
    connection.close()
    with pytest.raises(DatabaseTooNewError):
        async with Database.open(database_path):
            pass


@pytest.mark.spec("R2")
async def test_ids_of_resources_that_the_record_names_are_not_given_again(database_path: Path) -> None:
    build_database(database_path, _EARLIER["v22"])
    insert = (
        "INSERT INTO record (seq, time_ms, kind, call_id, tool, module, session_id, principal_kind, principal_id,"
        " arguments_digest, decision, decided_by, outcome, resource_id, arguments, hash)"
        " VALUES (?, 1, 'call', ?, 't', 'm', ?, 'page', '', '', '', '', 'ok', ?, '', x'00')"
    )
    named = [
        ("a_b", "browser_a_b_3"),
        ("a_b", "browser_a_b_11"),
        ("a_b", "user_tab_a_b_0"),
        ("c", None),
        ("c", "x_c_y"),
    ]
    with sqlite3.connect(database_path) as connection:
        for number, (session_id, resource_id) in enumerate(named):
            connection.execute(insert, (number, f"call_{number}", session_id, resource_id))
    connection.close()
    async with Database.open(database_path) as database:
        assert await ResourceIndexStore(database).load() == {("a_b", "browser"): 12, ("a_b", "user_tab"): 1}
