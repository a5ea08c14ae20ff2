"""A link that is cut, slow, late or half open: each call ends once, and nothing is lost or left behind."""

import asyncio
from itertools import count
from typing import Any

import pytest

from tests.hosts.network.linked import WAIT_S, Linked, linked, text_of
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("H3")


@pytest.fixture
async def both(tmp_path):
    async with linked(tmp_path) as made:
        yield made


async def _rows(both: Linked, tool: str) -> list[Any]:
    return (await both.server.get(f"/api/calls?tool={tool}&limit=200"))["calls"]


async def _on_the_way(both: Linked) -> list[str]:
    return [call["call_id"] for call in (await both.server.get("/api/calls/on-the-way"))["calls"]]


async def test_calls_outlive_a_link_that_is_cut_for_a_moment(both):
    """One has begun before, and ends while there is no link; one is made meanwhile, and begins once there is one."""
    first = both.working(1)
    await both.begun(1)
    async with both.relay.down():
        await both.server.host_is("laptop", "away")
        second = both.working(2)
        await both.worker.said("not connected")
        both.let_end()
    ends = await asyncio.gather(first, second)
    assert [end["data"] for end in ends] == [{"number": 1}, {"number": 2}]
    await both.server.host_is("laptop", "running")
    assert both.runs() == {"1": 1, "2": 1}
    assert [row["outcome"] for row in await _rows(both, "work")] == ["ok", "ok"]


@pytest.mark.more
async def test_result_that_is_lost_on_its_way_is_delivered_once(both):
    """The host has sent it, and the link has taken it, and nobody ever gets it from there."""
    both.relay.out.stall()
    calling = asyncio.create_task(both.server.call("weigh", size=300_000, folder=str(both.work)))
    await wait_until(lambda: both.relay.out.taken - both.relay.out.passed > 300_000)
    await both.relay.cut()
    both.relay.go_on()
    assert len(text_of(await calling)) == 300_000
    assert both.runs() == {"weighed 300000": 1}
    assert len(await _rows(both, "weigh")) == 1


@pytest.mark.more
async def test_call_that_is_cancelled_while_there_is_no_link_is_ended_at_the_host(both):
    calling = both.working(1)
    await both.begun(1)
    (call_id,) = await _on_the_way(both)
    async with both.relay.down():
        await both.server.host_is("laptop", "away")
        await both.server.post(f"/api/calls/{call_id}/cancel")
        end = await calling
        assert end["error"]["type"] == "cancelled", end
        assert both.runs() == {"1": 1}
    await wait_until(lambda: both.runs() == {"1": 1, "cancelled 1": 1})
    both.let_end()
    assert (await both.working(2))["ok"]
    assert [row["outcome"] for row in await _rows(both, "work")] == ["ok", "cancelled"]


@pytest.mark.more
@pytest.mark.parametrize("seconds", [1, 10])
async def test_thirty_calls_and_a_box_outlive_a_link_that_is_away(both, seconds):
    """Ten calls go on, ten end and ten are made meanwhile; what lives at the host is there afterwards."""
    box = text_of(await both.server.call("fill", folder=str(both.work)))
    going_on = [both.working(number) for number in range(10)]
    await both.begun(*range(10))
    async with both.relay.down(at_least_s=seconds):
        await both.server.host_is("laptop", "away")
        made = [both.working(number, waits=False) for number in range(10, 20)]
        both.let_end()
    ends = await asyncio.gather(*going_on, *made)
    assert sorted(end["data"]["number"] for end in ends) == list(range(20))
    again = await both.server.call("fill", folder=str(both.work), resource_id=box)
    assert text_of(again) == box
    assert both.runs() == {**{str(number): 1 for number in range(20)}, f"filled {box}": 2}


@pytest.mark.more
async def test_link_that_is_cut_again_and_again_under_load_loses_no_call_and_runs_none_twice(both):
    """Two hundred calls, forty at a time; whenever some more have begun, the link is cut."""
    gate = asyncio.Semaphore(40)

    async def one(number: int) -> Any:
        async with gate:
            return await both.working(number, waits=False)

    async def cut_again_and_again() -> None:
        for enough in count(40, 40):
            await wait_until(lambda enough=enough: both.runs().total() >= enough)
            await both.relay.cut()

    async with asyncio.TaskGroup() as group:
        cutting = group.create_task(cut_again_and_again())
        ends = await asyncio.gather(*(one(number) for number in range(200)))
        cutting.cancel()
    assert [end["error"] for end in ends if not end["ok"]] == []
    assert both.runs() == {str(number): 1 for number in range(200)}
    assert len(both.relay.peers) > 3


@pytest.mark.more
async def test_link_with_half_a_second_each_way_carries_calls_cancels_and_large_results(both):
    """Pings, cancels and results are late, and nothing takes the host for away."""
    both.relay.out.delay_s = both.relay.back.delay_s = 0.5
    calls = [both.working(number) for number in range(20)]
    await both.begun(*range(20))
    first, *_ = await _on_the_way(both)
    large = asyncio.create_task(both.server.call("weigh", size=1_500_000, folder=str(both.work)))
    await both.server.post(f"/api/calls/{first}/cancel")
    both.let_end()
    ends = await asyncio.gather(*calls)
    assert sorted(end["ok"] for end in ends) == [False, *[True] * 19]
    assert (await large)["ok"]

    async def latency() -> float:
        return (await both.server.host("laptop"))["latencyMs"]

    async with asyncio.timeout(WAIT_S):
        while await latency() < 1000:
            await asyncio.sleep(0.1)
    assert len(both.relay.peers) == 2, "it was let in, and has stayed connected since"
    assert all(count == 1 for count in both.runs().values())


@pytest.mark.more
async def test_slow_link_carries_a_cancel_past_a_large_result(both):
    """What is said overtakes what is large: a call is cancelled at once while a result takes its time."""
    both.relay.out.bytes_per_s, both.relay.out.holds_bytes = 400_000, 20_000
    calling = both.working(1)
    await both.begun(1)
    large = asyncio.create_task(both.server.call("draw", size=4_000_000))
    await wait_until(lambda: both.relay.out.passed > 200_000)
    (call_id,) = set(await _on_the_way(both)) - {await _of_tool(both, "draw")}
    await both.server.post(f"/api/calls/{call_id}/cancel")
    assert (await calling)["error"]["type"] == "cancelled"
    await wait_until(lambda: both.runs()["cancelled 1"] == 1)
    assert not large.done()
    both.relay.out.bytes_per_s = None
    assert (await large)["ok"]


async def _of_tool(both: Linked, tool: str) -> str:
    calls = (await both.server.get("/api/calls/on-the-way"))["calls"]
    return next(call["call_id"] for call in calls if call["tool"] == tool)


@pytest.mark.more
async def test_picture_that_is_cut_in_its_middle_arrives_whole(both):
    """Its pieces of before are of no use any more, and it is sent again, whole."""
    both.relay.out.bytes_per_s, both.relay.out.holds_bytes = 1_000_000, 20_000
    drawing = asyncio.create_task(both.server.call("draw", size=3_000_000))
    await wait_until(lambda: both.relay.out.passed > 500_000)
    both.relay.out.bytes_per_s = None
    await both.relay.cut()
    end = await drawing
    assert end["ok"], end
    assert sum(len(block.get("base64", "")) for block in end["content"]) >= 3_000_000
    assert both.runs() == {}


@pytest.mark.more
async def test_half_open_link_is_noticed_by_both_ends_and_given_up(both):
    """Bytes are taken and none arrive; later all of them do, behind the new connection's back."""
    calling = both.working(1)
    await both.begun(1)
    both.relay.stall()
    await both.server.host_is("laptop", "away")
    await both.worker.said("not connected")
    both.let_end()
    both.relay.go_on()
    assert (await calling)["data"] == {"number": 1}
    await both.server.host_is("laptop", "running")
    assert both.runs() == {"1": 1}
    assert (await both.working(2))["ok"]


@pytest.mark.more
async def test_host_that_finds_its_former_link_half_open_is_let_in_by_another(both):
    """As where a router forgets a connection: the host dials anew, and the server still holds the former link."""
    calling = both.working(1)
    await both.begun(1)
    both.relay.strand()
    await both.worker.said("not connected")
    both.let_end()
    assert (await calling)["data"] == {"number": 1}
    await both.server.host_is("laptop", "running")
    assert both.runs() == {"1": 1}


@pytest.mark.more
async def test_link_that_is_lost_for_good_ends_calls_and_what_lives_there_at_both_ends(tmp_path):
    """After `keep_minutes` calls end with a reason, and the box is closed; a host that comes back is there anew."""
    hosts = {"laptop": {"kind": "remote", "keep_minutes": 0.05}}
    async with linked(tmp_path, hosts=hosts) as both:
        box = text_of(await both.server.call("fill", folder=str(both.work)))
        begun = both.working(1)
        await both.begun(1)
        async with both.relay.down():
            made = both.working(2, waits=False)
            first = await begun
            assert first["error"]["type"] == "module_failed", first
            assert "away for 0.05 minutes" in first["error"]["message"]
            assert (await both.server.get("/api/resources"))["resources"] == []
            await wait_until(lambda: both.runs()[f"closed {box}"] == 1)
            third = await both.working(3, timeout_ms=2000)
            assert third["error"]["type"] == "host_away", third
            both.let_end()
        await both.server.host_is("laptop", "running")
        assert (await made)["ok"], "it was never sent before, and has waited for its host"
        assert (await both.working(4))["ok"]
        assert both.runs() == {"1": 1, "2": 1, "4": 1, f"filled {box}": 1, f"closed {box}": 1}
        outcomes = [row["outcome"] for row in await _rows(both, "work")]
        assert sorted(outcomes) == ["host_away", "module_failed", "ok", "ok"]
