"""What is in the database at which moment of an approved call."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agentcore.api import Module, ToolError, tool
from agentcore.api.tool_context import Principal
from agentcore.core.approvals.request import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core

pytestmark = pytest.mark.spec("K2")
MODEL = Principal("chat", "s")
APPROVED = Verdict(approved=True, by="terminal")


class Witness(Module):
    """Looks from outside at what would be left if the process were killed inside of the tool."""

    name = "witness"

    def __init__(self) -> None:
        self.database = Path()
        self.seen: list[dict[str, list[str]]] = []

    @tool(effects=["execute"])
    async def look(self) -> None:
        """Note what stands in the database."""
        with sqlite3.connect(self.database) as connection:
            self.seen.append(
                {
                    "begun": [key for (key,) in connection.execute("SELECT call_id FROM open_calls")],
                    "decided": [
                        key for (key,) in connection.execute("SELECT call_id FROM record WHERE kind = 'decision'")
                    ],
                    "waiting": [key for (key,) in connection.execute("SELECT call_id FROM approvals")],
                }
            )
        connection.close()


@pytest.fixture
def witness() -> Witness:
    return Witness()


HOST = {"modules": ["witness"]}


@pytest.fixture(autouse=True)
def watched(host, witness):
    """Have the witness look into the database of the host."""
    witness.database = host.store.database.path


async def asked(core: Core, call: asyncio.Task) -> str:
    async with asyncio.timeout(30):
        while not core.approvals.waiting:
            assert not call.done()
            await asyncio.sleep(0)
    return core.approvals.waiting[0].call_id


async def fill(core: Core, *, is_full: bool) -> None:
    """Let the database grow no further, as on a full disk, or grow again."""

    def limit(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages if is_full else pages + 100_000}")

    await core.store.database.write(limit)


async def test_call_of_a_caller_that_stays_has_begun_in_the_database_before_its_tool_runs(host, witness):
    call = asyncio.create_task(host.run_call(CallRequest("look", {}, MODEL, waits_for_approval=True)))
    call_id = await asked(host, call)
    await host.approvals.decide_call(call_id, APPROVED)
    assert (await call).ok
    assert witness.seen == [{"begun": [f'"{call_id}"'], "decided": [call_id], "waiting": []}]


async def test_call_that_outlives_its_caller_waits_no_more_when_its_tool_runs(host, witness):
    call_id = (await host.run_call(CallRequest("look", {}, MODEL))).call_id
    await host.approvals.decide_call(call_id, APPROVED)
    assert (await host.run_call(CallRequest("look", {}, MODEL, call_id=call_id))).ok
    assert witness.seen == [{"begun": [f'"{call_id}"'], "decided": [call_id], "waiting": []}]


@pytest.mark.spec("S7")
async def test_approved_call_that_cannot_be_recorded_does_not_run(host, witness):
    """Neither the approver nor the caller is told that it went well; with room again, calls run."""
    call = asyncio.create_task(host.run_call(CallRequest("look", {}, MODEL, waits_for_approval=True)))
    call_id = await asked(host, call)
    await fill(host, is_full=True)
    verdict = Verdict(approved=True, by="x" * 100_000)
    with pytest.raises(ToolError) as raised:
        await host.approvals.decide_call(call_id, verdict)
    assert raised.value.type == "record_unavailable"
    assert (await call).error.type == "record_unavailable"
    assert witness.seen == []
    await fill(host, is_full=False)
    assert (await host.run_call(CallRequest("look", {}, Principal("cli")))).ok
