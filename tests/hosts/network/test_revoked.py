"""A key that is taken back while its host works, and a key that two programs have."""

import asyncio
import shutil

import pytest

from tests.hosts.network.linked import linked
from tests.hosts.two_machines import dialling
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("H3"), pytest.mark.more]


@pytest.fixture
async def both(tmp_path):
    async with linked(tmp_path) as made:
        yield made


async def test_host_that_is_forgotten_while_it_works_is_cut_off_and_ends_what_it_does(both):
    """Its call ends at the server at once, its run is ended on its machine, its box is closed, its program ends."""
    await both.server.call("fill", folder=str(both.work))
    calling = both.working(1)
    await both.begun(1)
    assert await both.server.delete("/api/hosts/laptop") == {"ok": True}
    end = await calling
    assert end["error"]["type"] == "module_failed", end
    assert "forgotten" in end["error"]["message"]
    async with asyncio.timeout(60):
        assert await both.worker.process.wait() == 3
    assert both.runs()["cancelled 1"] == 1
    assert (await both.server.get("/api/resources"))["resources"] == []
    refused = await both.working(2, host="laptop")
    assert refused["error"]["type"] == "host_not_found"
    assert both.runs()["2"] == 0


async def test_host_that_is_forgotten_while_there_is_no_link_is_told_when_it_dials_in(both):
    calling = both.working(1)
    await both.begun(1)
    async with both.relay.down():
        await both.server.host_is("laptop", "away")
        await both.server.delete("/api/hosts/laptop")
        assert "forgotten" in (await calling)["error"]["message"]
    async with asyncio.timeout(60):
        assert await both.worker.process.wait() == 3
    assert both.runs() == {"1": 1, "cancelled 1": 1}


async def test_second_program_with_the_key_gets_nothing_until_the_first_one_is_gone(both, tmp_path):
    """It is turned away while the first one answers, and let in when the first one's link is dead."""
    (tmp_path / "twin").mkdir(mode=0o700)
    shutil.copytree(both.far.state / "servers", tmp_path / "twin" / "servers")
    twin = {"AGENTCORE_STATE_DIR": str(tmp_path / "twin")}
    calling = both.working(1)
    await both.begun(1)
    async with dialling(both.far, both.address, "laptop", **twin) as second:
        await second.said("is connected already")
        assert (await both.server.host("laptop"))["state"] == "running"
        await both.worker.kill()
        await second.said("connected to")
        assert (await calling)["error"]["type"] == "module_failed"
        both.let_end()
        await wait_until(lambda: both.runs()["1"] == 1)
        assert (await both.working(2))["ok"]
    assert both.runs() == {"1": 1, "2": 1}
