"""A host behind NAT, by TLS, through nginx and through proxies that know CONNECT."""

import asyncio

import pytest

from tests.hosts.network.far_away import PROXY_PORT, far_away, near_place, why_not
from tests.hosts.network.linked import COUNTING, text_of
from tests.hosts.network.machine import ROUTER, ROUTER_OUTSIDE
from tests.hosts.two_machines import Place
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("H3"), pytest.mark.more, pytest.mark.skipif(bool(why_not()), reason=why_not())]
WAIT_S = 60.0
PROXY = f"{ROUTER}:{PROXY_PORT}"


@pytest.fixture
async def away(tmp_path):
    far = Place(tmp_path / "far", modules=["counting"])
    far.add_module("counting", COUNTING)
    async with far_away(tmp_path, near_place(tmp_path), far) as made:
        yield made


async def test_host_behind_nat_is_let_in_and_works_and_dials_again(away, tmp_path):
    """A person sees the address of its router; the link is cut in the middle of a call, which goes on."""
    async with away.dialling("--ca", str(away.certificates.authority)) as worker:
        shown = await away.server.let_in(await worker.code())
        assert shown["address"] == f"{ROUTER_OUTSIDE} (by way of 127.0.0.1)"
        await away.server.host_is("laptop", "running")
        calling = asyncio.create_task(away.server.call("work", number=1, folder=str(tmp_path)))
        await wait_until((tmp_path / "log").exists)
        await away.relay.cut()
        await worker.said("not connected")
        (tmp_path / "go").touch()
        assert (await calling)["data"] == {"number": 1}
        assert (tmp_path / "log").read_text() == "1\n"


async def test_proxy_of_the_environment_is_the_way_out_and_gets_its_credentials(away, tmp_path):
    """What `~/.netrc` has for all servers is none of the server's business."""
    (netrc := tmp_path / "netrc").write_text("default login somebody password else\n")
    netrc.chmod(0o600)
    environ = {"HTTPS_PROXY": f"http://me:secret%21@{PROXY}", "NETRC": str(netrc)}
    async with away.only_by_proxy("me:secret!") as proxy, away.paired(**environ):
        assert set(proxy.tunnels) == {"agent.example.com:443"}
        assert proxy.refused == []
        assert (await away.server.call("work", number=1, folder=str(tmp_path), waits=False))["ok"]


async def test_proxy_that_refuses_is_said_and_tried_again(away):
    """With wrong credentials; the machine's own way is closed."""
    environ = {"https_proxy": f"http://me:wrong@{PROXY}"}
    ca = ("--ca", str(away.certificates.authority))
    async with away.only_by_proxy("me:secret") as proxy, away.dialling(*ca, **environ) as worker:
        said = await worker.said(r"not connected: .*407.*")
        assert "wrong" not in said[0]
        await wait_until(lambda: len(proxy.refused) > 1)
        assert proxy.tunnels == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("socks5://10.77.0.1:1080", "socks5"),
        ("https://10.77.0.1:3128", "https"),
        ("http://[::1", "HTTPS_PROXY"),
    ],
)
async def test_proxy_that_cannot_be_used_is_said_at_once(away, value, reason):
    async with away.dialling(HTTPS_PROXY=value) as worker:
        assert reason in (await worker.said(r"(?s)error: .*"))[0]
        async with asyncio.timeout(WAIT_S):
            assert await worker.process.wait() == 2


async def test_server_whose_certificate_nobody_vouches_for_gets_nothing(away):
    async with away.dialling() as worker:
        await worker.said(r"not connected: .*[Cc]ertificate")
        assert away.relay.peers == []


async def test_packets_that_are_lost_for_half_a_minute_lose_no_call(away, tmp_path):
    """The cable is out for longer than either end waits for a sign of life; no end is told anything."""
    async with away.paired() as worker:
        calling = asyncio.create_task(away.server.call("work", number=1, folder=str(tmp_path)))
        await wait_until((tmp_path / "log").exists)
        await away.machine.unplug()
        await away.server.host_is("laptop", "away")
        await worker.said("not connected")
        made = asyncio.create_task(away.server.call("work", number=2, folder=str(tmp_path), waits=False))
        (tmp_path / "go").touch()
        await away.machine.plug_in()
        ends = await asyncio.gather(calling, made)
    assert [end["data"] for end in ends] == [{"number": 1}, {"number": 2}]
    assert sorted((tmp_path / "log").read_text().split()) == ["1", "2"]


async def test_machine_that_loses_its_power_comes_back_with_its_key(away, tmp_path):
    """Nobody takes leave: all its processes and its network are gone at once, and a new one dials in with the key."""
    async with away.paired():
        calling = asyncio.create_task(away.server.call("work", number=1, folder=str(tmp_path)))
        await wait_until((tmp_path / "log").exists)
        await away.machine.lose_power()
    await away.machine.boot()
    async with away.dialling("--ca", str(away.certificates.authority)) as worker:
        await worker.said("connected to")  # the server may not have noticed yet that the former one has gone
        assert (await calling)["error"]["type"] == "module_failed"
        (tmp_path / "go").touch()
        text_of(await away.server.call("work", number=2, folder=str(tmp_path)))
    assert (tmp_path / "log").read_text().split() == ["1", "2"]
