"""A server whose database has single rows that nobody can read: it starts, and all the others are there."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.chat.crashing import request, served

MODULE = '''
from agentcore.api import CallPreview, Module, ToolContext, tool


class Ledger(Module):
    """Adds lines."""

    def _look(self, ctx: ToolContext, arguments: dict) -> CallPreview:
        return CallPreview(is_protected=True)

    @tool(effects=["write"], preview=_look)
    async def ledger_add(self, ctx: ToolContext, line: str) -> str:
        """Add a line."""
        return "added " + line
'''

APPROVALS = ["no JSON", "[]", "{}", '{"tool": "ledger_add", "principal": 1}', '{"tool": "ledger_add", "offers": 1}']
OPEN_CALLS = ["no JSON", "[]", '{"unknown": 1}', '{"time_ms": "now", "kind": 1}']
TABS = ["no JSON", "[]", '{"resourceType": 1}']


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "ledger.py").write_text(MODULE)
    app = {"modules": ["ledger"], "approvals": {"api_token": True, "mode": "ask"}, "models": {}}
    (tmp_path / "app.json").write_text(json.dumps(app))
    return tmp_path


def damage(path):
    """Add rows that nobody can read beside those that are there."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for number, text in enumerate(APPROVALS):
            connection.execute("INSERT INTO approvals VALUES (?, 's1', ?, NULL, ?)", (f"a{number}", text, 2**62))
        for number, text in enumerate(OPEN_CALLS):
            connection.execute("INSERT INTO open_calls VALUES (?, 1, ?)", (f'"o{number}"', text))
        for number, text in enumerate(TABS):
            connection.execute(
                "INSERT INTO tabs (tab_id, workspace_id, resource_id, title, is_pinned, created_at_ms,"
                " last_active_at_ms, last_seen) VALUES (?, 'w', ?, 't', 0, 1, 1, ?)",
                (f"t{number}", f"r{number}", text),
            )


@pytest.mark.spec("K2")
async def test_rows_that_nobody_can_read_keep_no_server_from_starting_and_no_other_row_from_being_read(folder):
    path = "/api/tools/ledger_add/call"
    body = {"arguments": {"line": "milk"}, "session_id": "s1"}
    async with served(folder) as (_, address):
        call_id = (await request(address, "POST", path, body))["error"]["context"]["callId"]
    damage(folder / "state" / "state.sqlite3")
    for _ in range(2):
        async with served(folder) as (_, address):
            assert [call["callId"] for call in (await request(address, "GET", "/api/approvals"))["calls"]] == [call_id]
            assert (await request(address, "GET", "/api/tabs"))["tabs"] == []
            rows = (await request(address, "GET", "/api/calls"))["calls"]
            unreadable = [row for row in rows if row["outcome"] == "open_call_unreadable"]
            assert len(unreadable) == len(OPEN_CALLS)


async def test_server_that_cannot_start_ends_and_says_so(folder):
    async with served(folder):
        pass
    with closing(sqlite3.connect(folder / "state" / "state.sqlite3")) as connection, connection:
        connection.execute("DROP TABLE approvals")
    with pytest.raises(AssertionError, match=r"the server could not start .*no such table: approvals"):
        async with served(folder):
            pass
