"""The way to NATS of one side is cut, late or half open: no call runs twice, and none that was acknowledged is lost."""

import asyncio
import contextlib
import json

import pytest

from tests.hosts.network.relay import relay_to
from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import WAIT_S, serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]


@pytest.fixture
async def nats(tmp_path):
    async with nats_running(tmp_path / "nats") as running:
        yield running


class Way:
    """NATS as one side reaches it: through a link that can be spoilt."""

    def __init__(self, relay):
        self.relay = relay
        self.address = f"nats://127.0.0.1:{relay.address[1]}"


async def _begun(log, number):
    async with asyncio.timeout(WAIT_S):
        while not log.exists() or len(log.read_text().split()) < number:
            await asyncio.sleep(0.02)


def _ran_once(log):
    ids = log.read_text().split()
    assert len(ids) == len(set(ids)), "a call ran twice"
    return set(ids)


@pytest.mark.parametrize("seconds", [0, 3])
async def test_server_whose_link_is_cut_gets_every_result_once(tmp_path, nats, seconds):
    log, go = tmp_path / "log", tmp_path / "go"
    async with contextlib.AsyncExitStack() as held:
        relay = await held.enter_async_context(relay_to("127.0.0.1", nats.port))
        await held.enter_async_context(member(member_place(tmp_path / "one"), nats, "one", "--capacity", "50"))
        place = pool_place(tmp_path / "near", Way(relay), "counting")
        server = await held.enter_async_context(serving(place))
        await members_running(server, "one")
        words = {"wait_for": str(go), "note": str(log)}
        calls = [asyncio.create_task(server.call("count", session_id=f"s{each}", **words)) for each in range(20)]
        await _begun(log, 20)
        async with relay.down(at_least_s=seconds):
            go.touch()
        ended = await asyncio.gather(*calls)
        assert [each.get("data", each).get("count") for each in ended] == [1] * 20, ended
        assert {each["callId"] for each in ended} == _ran_once(log)
        assert (await server.call("count", session_id="s3"))["data"]["count"] == 2


@pytest.mark.parametrize("seconds", [0, 8])
async def test_host_whose_link_is_cut_runs_nothing_twice_and_is_there_again(tmp_path, nats, seconds):
    """Cut for longer than it takes to count as dead, what it had is lost, and said to be."""
    log, go = tmp_path / "log", tmp_path / "go"
    async with contextlib.AsyncExitStack() as held:
        relay = await held.enter_async_context(relay_to("127.0.0.1", nats.port))
        await held.enter_async_context(member(member_place(tmp_path / "one"), Way(relay), "one", "--capacity", "50"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one")
        words = {"wait_for": str(go), "note": str(log)}
        calls = [asyncio.create_task(server.call("count", session_id=f"s{each}", **words)) for each in range(20)]
        await _begun(log, 20)
        async with relay.down(at_least_s=seconds):
            go.touch()
        ended = await asyncio.gather(*calls)
        assert {each["ok"] or each["error"]["type"] for each in ended} <= {True, "interrupted"}, ended
        assert {each["callId"] for each in ended} == _ran_once(log)
        await members_running(server, "one")
        # whatever was kept is what was acknowledged
        after = await asyncio.gather(*(server.call("count", session_id=f"s{each}") for each in range(20)))
        assert all(each["ok"] for each in after), after
        for before, now in zip(ended, after, strict=True):
            same = before.get("resourceId") == now["resourceId"]
            assert now["data"]["count"] == (2 if same else 1), (before, now)
        if seconds:
            assert {each["ok"] for each in ended} == {False}


async def test_host_that_is_half_a_second_away_works(tmp_path, nats):
    async with contextlib.AsyncExitStack() as held:
        relay = await held.enter_async_context(relay_to("127.0.0.1", nats.port))
        relay.out.delay_s = relay.back.delay_s = 0.25
        await held.enter_async_context(member(member_place(tmp_path / "one"), Way(relay), "one"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one")
        ended = await asyncio.gather(*(server.call("count", session_id=f"s{each}") for each in range(10)))
        assert [each["data"]["count"] for each in ended] == [1] * 10
        assert (await server.call("draw", size=500_000))["ok"]


async def test_link_that_is_half_open_is_noticed_by_both_sides(tmp_path, nats):
    async with contextlib.AsyncExitStack() as held:
        relay = await held.enter_async_context(relay_to("127.0.0.1", nats.port))
        worker = await held.enter_async_context(member(member_place(tmp_path / "one"), Way(relay), "one"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one")
        assert (await server.call("count"))["ok"]
        relay.strand()  # for good: only a new connection passes
        await server.host_is("farm.one", "away")
        await worker.said("the connection to NATS was lost")
        await members_running(server, "one")
        said = await server.call("count")
        assert said["ok"], json.dumps(said)
