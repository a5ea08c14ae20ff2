"""What NATS lets a key of a pool say: what `agentcore hosts key` prints holds each host to what is its own."""

import asyncio
import contextlib
import os
import stat

import pytest

from tests.forking import run
from tests.remote.pool.test_storage import say, storing_place
from tests.remote.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.remote.two_machines import WAIT_S, serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]


async def _key(folder, *words):
    """A key, as the command makes it; gives what it prints, and the error."""
    done = await asyncio.to_thread(lambda: run("hosts", "key", *words, "--pool", "farm", cwd=folder, limit_s=WAIT_S))
    return done.stdout, done.stderr


@pytest.fixture
async def keys(tmp_path):
    """A key of a server, and two of hosts; gives the configuration of NATS that knows them."""
    users = [(await _key(tmp_path, "server.seed"))[0]]
    users += [(await _key(tmp_path, f"{name}.seed", "--name", name))[0] for name in ("one", "two")]
    assert all(users)
    return "authorization { users = [\n" + "".join(users) + "] }\n"


@contextlib.asynccontextmanager
async def _with_keys(folder, keys, module, place_of):
    """A pool that wants keys, with two hosts and a server."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(folder / "nats", keys))
        for name in ("one", "two"):
            words = ("--key", str(folder / f"{name}.seed"), "--capacity", "1")
            await held.enter_async_context(member(place_of(folder / name), nats, name, *words))
        place = pool_place(folder / "near", nats, module, key=str(folder / "server.seed"))
        server = await held.enter_async_context(serving(place))
        await members_running(server, "one", "two")
        yield nats, server


async def test_hosts_and_servers_with_keys_work_together_and_nobody_without_one(tmp_path, keys):
    async with _with_keys(tmp_path, keys, "counting", member_place) as (nats, server):
        for turn in (1, 2):
            for session in ("a", "b"):
                said = await server.call("count", session_id=session)
                assert said["ok"], said
                assert said["data"]["count"] == turn
        assert (await server.call("draw", size=500_000))["ok"]
        async with member(member_place(tmp_path / "three"), nats, "three") as other:
            await other.said("(?i)authorization")
            assert await server.host("farm.three") is None


async def test_modules_of_hosts_with_keys_store_what_the_others_find(tmp_path, keys):
    async with _with_keys(tmp_path, keys, "storing", storing_place) as (_, server):
        for text in ("first", "last"):
            assert await say(server, "store", "a", name="it", text=text, times=100_000) == "stored"
        assert await say(server, "look", "b", name="it") == "last" * 5
        assert await say(server, "drop", "b", name="it") == "dropped"
        assert await say(server, "look", "a", name="it") == "nothing"


async def test_host_with_a_key_speaks_and_hears_for_itself_alone(tmp_path, keys):
    import nats as nats_py

    refused = []

    async def failed(error):
        refused.append(str(error).lower())

    async def hear(message):
        heard.append(message.subject)

    heard = []
    async with nats_running(tmp_path / "nats", keys) as nats:
        one = await nats_py.connect(nats.address, nkeys_seed=str(tmp_path / "one.seed"), error_cb=failed)
        server = await nats_py.connect(
            nats.address, nkeys_seed=str(tmp_path / "server.seed"), inbox_prefix="_INBOX_farm_server"
        )
        await server.subscribe("agentcore.farm.alive.*", cb=hear)
        await server.subscribe("agentcore.farm.up.>", cb=hear)
        await server.flush()
        forbidden = (
            *("agentcore.farm.alive.two", "agentcore.farm.up.two.s.l", "agentcore.farm.open.two"),
            *("agentcore.farm.drain.two", "agentcore.farm.down.two.s.l", "agentcore.farm.place.any"),
            *(
                "$KV.agentcore_farm_leases.x",
                "$JS.API.STREAM.DELETE.KV_agentcore_farm_leases",
                "agentcore.other.alive.one",
            ),
        )
        for subject in (*forbidden, "agentcore.farm.alive.one"):
            await one.publish(subject, b"x")
        for subject in ("agentcore.farm.down.two.>", "agentcore.farm.up.>", "agentcore.>", "_INBOX_farm_server.>"):
            await one.subscribe(subject, cb=hear)
        await one.flush()
        await server.flush()
        async with asyncio.timeout(30):
            while len(refused) < len(forbidden) + 4 or not heard:
                await asyncio.sleep(0.02)
        assert heard == ["agentcore.farm.alive.one"]
        assert all("permissions violation" in each for each in refused)
        for each in (one, server):
            await each.close()


async def test_key_is_for_its_owner_alone_and_none_is_overwritten(tmp_path):
    printed, _ = await _key(tmp_path, "box.seed", "--name", "box7")
    file = tmp_path / "box.seed"
    before = file.read_text()
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert before.startswith("SU")
    assert before.strip() not in printed
    assert "agentcore.farm.alive.box7" in printed
    assert "is there already" in (await _key(tmp_path, "box.seed", "--name", "box7"))[1]
    assert file.read_text() == before
    assert "cannot be a name" in (await _key(tmp_path, "other.seed", "--name", "Box 7"))[1]
