"""`GET /api/calls`: the record in pages."""

import asyncio

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.record.segments import segments_folder

LATER_MS = 4_000_000_000_000
"""A time that no limit of age reaches."""


class Counter(Module):
    """Counts."""

    name = "counter"

    @tool(read_only=True)
    async def count_up(self, ctx: ToolContext, by: int = 1) -> int:
        """Count.

        Args:
            by: Step.
        """
        return by

    @tool(read_only=True)
    async def count_twice(self, ctx: ToolContext) -> int:
        """Count from inside."""
        await ctx.call("count_up", {"by": 1})
        await ctx.call("count_up", {"by": 2})
        return 3

    @tool(read_only=True)
    async def count_forever(self, ctx: ToolContext, password: str = "") -> None:
        """Wait."""
        ctx.progress(0.5, "half")
        await asyncio.Event().wait()


SERVER = {"modules": [Counter]}


@pytest.mark.spec("S7")
async def test_record_is_given_newest_first_and_in_pages(bare_server):
    for step in range(5):
        await bare_server.call("count_up", {"by": step}, session_id="s1")
    _, first = await bare_server.get("/api/calls?limit=3")
    _, second = await bare_server.get(f"/api/calls?limit=3&before={first['next']}")
    assert [row["arguments"] for row in first["calls"]] == ['{"by":4}', '{"by":3}', '{"by":2}']
    assert [row["arguments"] for row in second["calls"]] == ['{"by":1}', '{"by":0}']
    assert second["next"] is None
    assert first["calls"][0]["session_id"] == "s1"
    assert first["calls"][0]["principal_kind"] == "token"


async def test_record_is_filtered(bare_server):
    await bare_server.call("count_up", {"by": 7654321})
    await bare_server.call("count_up", {"by": "x"})
    await bare_server.call("nothing")
    for query, wanted in (("outcome=ok", 1), ("outcome=unknown_tool", 1), ("tool=count_up", 2), ("q=7654321", 1)):
        _, page = await bare_server.get(f"/api/calls?{query}")
        assert len(page["calls"]) == wanted, query


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "before=0", "limit=x", "kind=other"])
async def test_bad_page_is_refused(bare_server, query):
    status, answer = await bare_server.get(f"/api/calls?{query}")
    assert (status, answer["error"]["type"]) == (400, "invalid_query")


async def test_part_of_the_record_is_given_while_rows_are_added_at_its_top(bare_server):
    for step in range(6):
        await bare_server.call("count_up", {"by": step})
    _, first = await bare_server.get("/api/calls?limit=1&total=true")
    anchor = first["calls"][0]["seq"] + 1
    await bare_server.call("count_up", {"by": 99})
    _, part = await bare_server.get(f"/api/calls?before={anchor}&skip=2&limit=2&total=true")
    assert [row["arguments"] for row in part["calls"]] == ['{"by":3}', '{"by":2}']
    assert (first["total"], part["total"]) == (6, 6)
    _, newer = await bare_server.get(f"/api/calls?after={anchor - 1}")
    assert [row["arguments"] for row in newer["calls"]] == ['{"by":99}']
    assert newer["total"] is None


async def test_failed_stands_for_any_error(bare_server):
    await bare_server.call("count_up")
    await bare_server.call("count_up", {"by": "x"})
    await bare_server.call("nothing")
    _, page = await bare_server.get("/api/calls?outcome=failed")
    assert [row["outcome"] for row in page["calls"]] == ["unknown_tool", "invalid_arguments"]


async def test_calls_from_inside_a_call_are_found_by_it(bare_server):
    envelope = await bare_server.call("count_twice")
    _, children = await bare_server.get(f"/api/calls?parent_call_id={envelope['callId']}")
    assert [row["arguments"] for row in children["calls"]] == ['{"by":2}', '{"by":1}']
    _, parent = await bare_server.get(f"/api/calls?call_id={children['calls'][0]['parent_call_id']}")
    assert [row["tool"] for row in parent["calls"]] == ["count_twice"]


async def test_calls_on_the_way_are_listed_with_masked_arguments(bare_server):
    begun = asyncio.Event()
    bare_server.host.events.subscribe("call.started", lambda _: begun.set())
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        task = group.create_task(bare_server.call("count_forever", {"password": "hunter2"}))
        await begun.wait()
        _, answer = await bare_server.get("/api/calls/on-the-way")
        (call,) = answer["calls"]
        assert (call["tool"], call["module"], call["state"]) == ("count_forever", "counter", "running")
        assert call["arguments"] == '{"password":"•••"}'
        await bare_server.post(f"/api/calls/{call['call_id']}/cancel")
        assert (await task)["error"]["type"] == "cancelled"
    assert (await bare_server.get("/api/calls/on-the-way"))[1] == {"calls": []}


async def test_older_calls_in_files_are_listed_in_further_pages(bare_server):
    record = bare_server.host.store.record
    for number in range(50):
        record.append(CallRow(LATER_MS, f"call_{number}", f"tool_{number % 2}"))
    await record.flush()
    limits = RecordLimits(1 << 40, 100_000)
    await RecordKeeper(bare_server.host.store.database, record, limits, segment_rows=20).tidy()
    _, newest = await bare_server.get("/api/calls?tool=tool_1&total=true")
    assert ([row["seq"] for row in newest["calls"]], newest["next"]) == (list(range(50, 20, -2)), 21)
    assert (newest["total"], newest["total_since"]) == (15, 21)
    _, older = await bare_server.get("/api/calls?tool=tool_1&before=21")
    assert ([row["seq"] for row in older["calls"]], older["next"]) == (list(range(20, 0, -2)), None)


async def test_damaged_file_of_older_calls_is_an_error_that_names_it(bare_server):
    store = bare_server.host.store
    for _ in range(50):
        store.record.append(CallRow(LATER_MS, "call_1", "tool_1"))
    await store.record.flush()
    await RecordKeeper(store.database, store.record, RecordLimits(1 << 40, 100_000), segment_rows=20).tidy()
    (file,) = segments_folder(store.database.path).iterdir()
    file.write_bytes(b"gone")
    status, answer = await bare_server.get("/api/calls?before=21")
    assert (status, answer["error"]["type"]) == (424, "record_unreadable")
    assert "rows 1 to 20" in answer["error"]["message"]
