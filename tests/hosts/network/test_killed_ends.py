"""Either end is killed in the middle of everything: what was acknowledged is there, and nothing runs twice."""

import asyncio
import json
import signal
from typing import Any

import pytest

from tests.hosts.network.linked import (
    Linked,
    dialling_again,
    linked,
    processes_of,
    serving_again,
    text_of,
)
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("H3")


@pytest.fixture
async def both(tmp_path):
    async with linked(tmp_path) as made:
        yield made


async def _rows(both: Linked, tool: str) -> list[Any]:
    return (await both.server.get(f"/api/calls?tool={tool}&limit=200"))["calls"]


async def _ended(both: Linked, number: int) -> list[Any]:
    """The rows of `work`, once there are so many."""
    async with asyncio.timeout(60):
        while len(rows := await _rows(both, "work")) < number:
            await asyncio.sleep(0.05)
    return rows


async def test_call_made_while_its_host_is_away_runs_on_the_next_start_of_its_program(both):
    """The program is killed and started anew, and its modules with it: the call had never been sent."""
    await both.worker.kill()
    await both.server.host_is("laptop", "away")
    made = both.working(1, waits=False)
    await until_on_the_way(both)
    async with dialling_again(both):
        assert (await made)["data"] == {"number": 1}
    assert both.runs() == {"1": 1}


async def until_on_the_way(both: Linked) -> None:
    async with asyncio.timeout(60):
        while not (await both.server.get("/api/calls/on-the-way"))["calls"]:
            await asyncio.sleep(0.02)


@pytest.mark.more
async def test_fifty_calls_end_once_when_the_server_is_killed_in_their_middle(both):
    """Half of them end while there is no server, the others with the next one; whoever asks again gets each end."""
    calls = [both.working(number) for number in range(50)]
    await both.begun(*range(50))
    box = text_of(await both.server.call("fill", folder=str(both.work)))
    ended = [both.working(number, waits=False) for number in range(50, 60)]
    acknowledged = await asyncio.gather(*ended)
    await both.server.kill()
    await asyncio.gather(*calls, return_exceptions=True)
    both.let_end_of(*range(25))
    await wait_until(lambda: both.runs().total() >= 61 + 25)
    async with serving_again(both) as server:
        await server.host_is("laptop", "running")
        both.let_end()
        rows = await _ended(both, 60)
        assert {row["outcome"] for row in rows} == {"ok"}
        by_id = {row["call_id"]: row for row in rows}
        assert {end["callId"] for end in acknowledged} <= set(by_id)
        ends = [
            await server.call("work", call_id=row["call_id"], **json.loads(row["arguments"]))
            for row in rows
            if row["call_id"] not in {end["callId"] for end in acknowledged}
        ]
        assert sorted(end["data"]["number"] for end in ends) == list(range(50))
        assert text_of(await server.call("fill", folder=str(both.work), resource_id=box)) == box
    counted = {line: number for line, number in both.runs().items() if not line.startswith("ends ")}
    assert counted == {**{str(number): 1 for number in range(60)}, f"filled {box}": 2}


@pytest.mark.more
async def test_server_and_link_are_lost_together_and_the_host_finds_the_next_server(both):
    """The next server starts while there is no link, and waits for the host before it gives a call up."""
    calling = both.working(1)
    await both.begun(1)
    async with both.relay.down():
        await both.server.kill()
        await asyncio.gather(calling, return_exceptions=True)
        async with serving_again(both) as server:
            await server.host_is("laptop", "away")
            both.let_end()
            await both.relay.accept()
            await server.host_is("laptop", "running")
            (row,) = await _ended(both, 1)
            assert row["outcome"] == "ok"
            await both.relay.refuse()
    assert both.runs() == {"1": 1}


@pytest.mark.more
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_worker_that_ends_ends_its_calls_and_its_boxes(both, number):
    """Killed, the server learns it when the program is started anew; ended in order, at once. Nothing runs again."""
    box = text_of(await both.server.call("fill", folder=str(both.work)))
    calls = [both.working(each) for each in range(20)]
    await both.begun(*range(20))
    both.worker.send(number)
    await both.worker.process.wait()
    assert processes_of(both.far.folder) == []
    async with dialling_again(both):
        await both.server.host_is("laptop", "running")
        ends = await asyncio.gather(*calls)
        assert {end["error"]["type"] for end in ends} == {"module_failed"}
        assert (await both.server.get("/api/resources"))["resources"] == []
        both.let_end()
        assert (await both.working(20))["ok"]
    runs = both.runs()
    assert {line: runs[line] for line in runs if line.isdigit()} == {str(each): 1 for each in range(21)}
    assert runs[f"filled {box}"] == 1


@pytest.mark.more
async def test_host_that_stands_still_is_away_and_goes_on_with_all_it_holds(both):
    """Stopped as a laptop that sleeps: nothing of it answers, and everything is there when it wakes up."""
    calling = both.working(1)
    await both.begun(1)
    both.worker.send(signal.SIGSTOP)
    try:
        await both.server.host_is("laptop", "away")
        made = both.working(2, waits=False)
        await until_on_the_way(both)
        both.let_end()
    finally:
        both.worker.send(signal.SIGCONT)
    assert [end["ok"] for end in await asyncio.gather(calling, made)] == [True, True]
    assert both.runs() == {"1": 1, "2": 1}
