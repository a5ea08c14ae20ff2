"""What NATS lets a key of a pool say: what `agentcore hosts key` prints holds each host to what is its own."""

import asyncio
import contextlib
import json
import os
import stat

import nats as nats_py
import pytest
from agentcore_nats_hosts.pool_messages import PlacementRequest, read_pool_message
from agentcore_nats_hosts.subjects import QUEUE, Subjects
from nats.errors import TimeoutError as NatsTimeout

from tests.forking import run
from tests.hosts.pool_of_hosts import (
    member,
    member_place,
    members_running,
    nats_running,
    pool_place,
    say,
    storing_place,
    why_not,
)
from tests.hosts.two_machines import WAIT_S, serving

FARM = Subjects("farm")

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
        drawn = await server.call("draw", size=500_000)
        assert drawn["ok"], drawn
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


async def test_a_host_with_a_key_gives_no_place_but_its_own(tmp_path, keys):
    """It is asked for a place, and says that another has room, which is full, wherever it can say so."""
    asked = []
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats", keys))
        words = ("--key", str(tmp_path / "one.seed"), "--capacity", "1")
        await held.enter_async_context(member(member_place(tmp_path / "one"), nats, "one", *words))
        place = pool_place(tmp_path / "near", nats, "counting", key=str(tmp_path / "server.seed"))
        server = await held.enter_async_context(serving(place))
        await members_running(server, "one")
        assert (await server.call("count", session_id="a"))["ok"], "it is asked itself, and has room"
        two = await nats_py.connect(nats.address, nkeys_seed=str(tmp_path / "two.seed"), error_cb=_ignore)
        held.push_async_callback(two.close)

        async def answer(message):
            asked.append(message.subject)
            wanted = read_pool_message(PlacementRequest, message.data)
            lie = json.dumps({"member": "one", "isFull": False}).encode()
            await two.publish(message.reply, lie)
            for member_name in ("one", "two"):
                await two.publish(FARM.up_subject(member_name, wanted.server, wanted.question), lie)

        await two.subscribe(FARM.placement_subject(()), queue=QUEUE, cb=answer)
        await two.flush()
        refused = await server.call("count", session_id="b")
        assert asked
        assert refused.get("error", {}).get("type") == "pool_full", refused
        assert (await server.host("farm.one"))["used"] == 1


async def _ignore(error):
    """What NATS refuses is seen by what it has no effect on."""


async def test_host_with_a_key_speaks_and_hears_for_itself_alone(tmp_path, keys):
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
        # what a subscription that was not refused would hear as well
        await server.publish("agentcore.farm.down.two.s.l", b"x")
        await server.flush()
        await one.publish("agentcore.farm.alive.one", b"x")
        await one.flush()
        await server.flush()
        async with asyncio.timeout(30):
            while len(heard) < 2:
                await asyncio.sleep(0.02)
        assert heard == ["agentcore.farm.alive.one"] * 2
        # Not all refusals are reported on a busy machine; the next test checks each subject.
        assert refused
        for each in (one, server):
            await each.close()


STREAM_VERBS = (
    *("STREAM.CREATE", "STREAM.UPDATE", "STREAM.INFO", "STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.GET"),
    *("STREAM.MSG.DELETE", "STREAM.SNAPSHOT", "STREAM.RESTORE", "STREAM.PEER.REMOVE", "STREAM.LEADER.STEPDOWN"),
    *("STREAM.TEMPLATE.CREATE", "STREAM.TEMPLATE.INFO", "STREAM.TEMPLATE.DELETE", "DIRECT.GET"),
    *("CONSUMER.CREATE", "CONSUMER.NAMES", "CONSUMER.LIST"),
)
CONSUMER_VERBS = (
    *("CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.INFO", "CONSUMER.DELETE", "CONSUMER.MSG.NEXT"),
    *("CONSUMER.LEADER.STEPDOWN", "DIRECT.GET"),
)
PLAIN_VERBS = (
    *("INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.TEMPLATE.NAMES", "STREAM.TEMPLATES", "META.LEADER.STEPDOWN"),
    *("SERVER.REMOVE", "ACCOUNT.PURGE.farm", "ACCOUNT.STREAM.MOVE.farm.s", "ACCOUNT.STREAM.CANCEL_MOVE.farm.s"),
)
STREAMS = ("KV_agentcore_farm_leases", "OBJ_agentcore_farm_kept", "own")
"""The pool's two streams, and one that a host would like to make for itself."""
JETSTREAM = [
    *(f"$JS.API.{verb}" for verb in PLAIN_VERBS),
    *(f"$JS.API.{verb}.{stream}" for verb in STREAM_VERBS for stream in STREAMS),
    *(f"$JS.API.{verb}.{stream}.own" for verb in CONSUMER_VERBS for stream in STREAMS),
    *("$JS.FC.OBJ_agentcore_farm_kept.own.x", "$JS.ACK.OBJ_agentcore_farm_kept.own.1.1.1.1.1", "$JS.EVENT.ADVISORY.x"),
    *("$KV.agentcore_farm_leases.x", "$O.agentcore_farm_kept.M.x", "$O.agentcore_farm_kept.C.x"),
]
OTHERS = [
    *("agentcore.farm.alive.two", "agentcore.farm.up.two.s.l", "agentcore.farm.open.one", "agentcore.farm.open.two"),
    *("agentcore.farm.drain.one", "agentcore.farm.drain.two", "agentcore.farm.down.one.s.l"),
    *("agentcore.farm.down.two.s.l", "agentcore.farm.place.any", "agentcore.farm.place.gpu", "agentcore.farm.server.s"),
    *("_INBOX_farm_server.x", "_INBOX_farm_host_one.x", "_INBOX_farm_host_two.x", "_INBOX.x", "$SYS.REQ.SERVER.PING"),
    *("agentcore.other.alive.one", "anything"),
]
FOREIGN_SUBSCRIPTIONS = [
    *("agentcore.farm.alive.*", "agentcore.farm.up.>", "agentcore.farm.down.two.>", "agentcore.farm.down.>"),
    *("agentcore.farm.open.*", "agentcore.farm.drain.two", "agentcore.farm.place.*", "agentcore.farm.place.any"),
    *("_INBOX_farm_server.>", "_INBOX_farm_host_two.>", "_INBOX.>", "$JS.>", "$KV.>", "$O.>", "$SYS.>", ">"),
]


async def test_a_host_with_a_key_reaches_nothing_of_jetstream_and_no_subject_of_others(tmp_path, keys):
    """Each verb of JetStream's API, and each subject of the pool: the real server refuses all but the host's own."""
    refused, heard = set(), []

    async def failed(error):
        refused.add(str(error).lower())

    async def hear(message):
        heard.append(message)

    async with nats_running(tmp_path / "nats", keys) as nats:
        one = await nats_py.connect(nats.address, nkeys_seed=str(tmp_path / "one.seed"), error_cb=failed)
        two = await nats_py.connect(nats.address, nkeys_seed=str(tmp_path / "two.seed"))
        server = await nats_py.connect(
            nats.address, nkeys_seed=str(tmp_path / "server.seed"), inbox_prefix="_INBOX_farm_server"
        )
        bucket = await server.jetstream().create_key_value(bucket="agentcore_farm_leases")
        store = await server.jetstream().create_object_store("agentcore_farm_kept")
        await bucket.put("x", b"the server's")
        await store.put("calls", b"all calls")
        for subject in ("agentcore.farm.down.two.*.*", "agentcore.farm.open.two", "_INBOX_farm_host_two.>"):
            await two.subscribe(subject, cb=hear)
        await server.subscribe("agentcore.farm.alive.*", cb=hear)
        await two.flush()
        await server.flush()
        # the answer of JetStream would go to the other host, in the place of what its server says
        for subject in (*JETSTREAM, *OTHERS):
            await one.publish(subject, b"{}", reply="agentcore.farm.down.two.s.l")
        for subject in FOREIGN_SUBSCRIPTIONS:
            await one.subscribe(subject, cb=hear)
        await one.publish("agentcore.farm.alive.one", b"x")
        await one.flush()
        await two.flush()
        await server.flush()
        wanted = [*(f'publish to "{each.lower()}"' for each in (*JETSTREAM, *OTHERS))]
        wanted += [f'subscription to "{each.lower()}"' for each in FOREIGN_SUBSCRIPTIONS]
        async with asyncio.timeout(30):
            while len(refused) < len(wanted) or not heard:
                await asyncio.sleep(0.02)
        assert [each for each in wanted if not any(each in said for said in refused)] == []
        assert [message.subject for message in heard] == ["agentcore.farm.alive.one"]
        assert (await bucket.get("x")).value == b"the server's"
        assert (await store.get("calls")).data == b"all calls"
        assert sorted(each.config.name for each in await _streams(server)) == sorted(STREAMS[:2])
        for each in (one, two, server):
            await each.close()


async def _streams(server):
    return [await server.jetstream().stream_info(stream) for stream in STREAMS[:2]]


async def test_a_server_with_a_key_reaches_no_streams_but_those_of_its_pool(tmp_path, keys):
    refused = []

    async def failed(error):
        refused.append(str(error).lower())

    async with nats_running(tmp_path / "nats", keys) as nats:
        server = await nats_py.connect(
            nats.address, nkeys_seed=str(tmp_path / "server.seed"), inbox_prefix="_INBOX_farm_server", error_cb=failed
        )
        jetstream = server.jetstream(timeout=0.5)
        with pytest.raises(NatsTimeout):
            await jetstream.create_key_value(bucket="agentcore_other_leases")
        with pytest.raises(NatsTimeout):
            await jetstream.add_stream(name="tap", subjects=["agentcore.>"])
        await jetstream.create_key_value(bucket="agentcore_farm_leases")
        assert len(refused) == 2, refused
        await server.close()


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
    assert (await _key(tmp_path, "box.seed", "--name", "box7", "--existing"))[0] == printed
    (tmp_path / "none.seed").write_text("nothing")
    assert "no seed" in (await _key(tmp_path, "none.seed", "--existing"))[1]
    assert "cannot be a name" in (await _key(tmp_path, "other.seed", "--name", "Box 7"))[1]
