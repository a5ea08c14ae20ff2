"""What nobody of a pool may say: a host that lies is cut off, the others go on; an old server is not heard."""

import asyncio
import contextlib
import json
import os
import struct

import nats as nats_py
import pytest
from agentcore_nats_hosts.pool_messages import Announcement, OpenLink
from agentcore_nats_hosts.subjects import Subjects

from agentcore.api import Principal, Resource
from agentcore.hosts.wire.frames import PROTOCOL
from agentcore.hosts.wire.values import arguments_to_wire, principal_to_wire, resource_to_wire
from tests.hosts.fake_host import TOOL
from tests.hosts.pool_of_hosts import member, member_place, members_running, nats_running, pool_place, why_not
from tests.hosts.two_machines import WAIT_S, serving

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not()), pytest.mark.more]

FARM = Subjects("farm")
PART, TEXT, PIECE, TAKEN, CLOSE = range(1, 6)


class Liar:
    """A host that says what a test wants, over NATS as a real one does."""

    def __init__(self, client, name="liar"):
        self.client, self.name = client, name
        self.opened: asyncio.Queue[OpenLink] = asyncio.Queue()
        self.goodbye: asyncio.Queue[str] = asyncio.Queue()
        self.link: OpenLink | None = None
        self.number = 0
        self.protocol = PROTOCOL
        self._signing = None

    async def begin(self):
        """Be in the pool."""
        await self.client.subscribe(FARM.open_link_subject(self.name), cb=self._open)
        self._signing = asyncio.create_task(self._sign())

    async def announce(self, name=None, **said):
        """Say that it is there."""
        links = {} if self.link is None else {self.link.server: self.link.link}
        mine = Announcement(
            member=name or self.name, protocol=self.protocol, instance="a" * 16, capacity=9, used=0, links=links
        )
        body = json.loads(mine.encode()) | said
        await self.client.publish(FARM.alive_subject(self.name), json.dumps(body).encode())

    async def _sign(self):
        while True:
            await self.announce()
            await asyncio.sleep(0.3)

    async def _open(self, message):
        self.link, self.number = OpenLink.model_validate_json(message.data), 0
        await self.client.subscribe(FARM.down_subject(self.name, self.link.server, self.link.link), cb=self._hear)
        self.opened.put_nowait(self.link)

    async def _hear(self, message):
        kind, _ = struct.unpack_from("!BQ", message.data)
        if kind != TEXT:
            return
        said = json.loads(message.data[9:])
        if said["type"] == "goodbye":
            self.goodbye.put_nowait(said["reason"])
        elif said["type"] == "hello.ok":
            await self.say("hello.done")
        elif said["type"] == "ping":
            await self.say("pong", n=said["n"])

    async def frame(self, kind, payload, *, number=None):
        """A frame of the link."""
        self.number += 1
        up = FARM.up_subject(self.name, self.link.server, self.link.link)
        await self.client.publish(up, struct.pack("!BQ", kind, number or self.number) + payload)

    async def say(self, kind, **fields):
        """A message of the link."""
        await self.frame(TEXT, json.dumps({"type": kind, **fields}).encode())

    async def hello(self, *modules, name=""):
        """Greet."""
        told = {"attributes": {}, "description": "Lies.", "settings": None, "config_key": None, "problems": []}
        members = [
            {"module": number, "name": each, "fingerprint": "", **told, "tools": [TOOL | {"name": f"lie_{each}"}]}
            for number, each in enumerate(modules, 1)
        ]
        where = {"platform": "Linux", "workspace": [], "instance": "a" * 16}
        named = name or f"farm.{self.name}"
        await self.say("hello", protocol=PROTOCOL, name=named, pid=os.getpid(), members=members, **where)

    async def close(self):
        """Be there no more."""
        if self._signing is not None:
            self._signing.cancel()
        await self.client.close()


@pytest.fixture
async def pool(tmp_path):
    """A server with an honest host, and one that lies."""
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        await held.enter_async_context(member(member_place(tmp_path / "one"), nats, "one"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one")
        assert (await server.call("count"))["ok"]
        liar = Liar(await nats_py.connect(nats.address))
        held.push_async_callback(liar.close)
        await liar.begin()
        yield server, liar
        said = await server.call("count")  # whatever the other one did
        assert said["ok"], said
        assert said["data"]["count"] == 2


async def _unlisted(liar):
    await liar.hello("counting", "shell_tools")


async def _other_name(liar):
    await liar.hello("counting", name="farm.one")


async def _no_frame(liar):
    await liar.frame(9, b"")


async def _short_frame(liar):
    await liar.client.publish(FARM.up_subject(liar.name, liar.link.server, liar.link.link), b"x")


async def _large_piece(liar):
    await liar.frame(PIECE, b"x" * 100_000)


async def _endless_text(liar):
    for _ in range(40):
        await liar.frame(PART, b"x" * 500_000)


async def _foreign_resource(liar):
    await liar.hello("counting")
    resource = resource_to_wire(Resource("counter_s0_0", "counter", "s0", 0))
    await liar.say("resource.update", resource=resource)
    await liar.say("resource.create", owner="fs_tools", resource=resource)


async def _foreign_call(liar):
    await liar.hello("counting")
    await liar.say("tool.result", id="call_1", n=7, resourceId=None, ok=True, result={"content": []})


async def _flood(liar):
    await liar.hello("counting")
    for _ in range(20_000):
        await liar.say("module.reports", module=1)  # costs more than a pong


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        (_unlisted, "hosts.farm.modules does not list"),
        (_other_name, "calls itself 'farm.one'"),
        (_no_frame, "not the protocol of hosts"),
        (_short_frame, "too short"),
        (_large_piece, "not the protocol of hosts"),
        (_endless_text, "a message of more than"),
        (_foreign_resource, ""),
        (_foreign_call, "never sent to it"),
        (_flood, "a flood"),
    ],
)
async def test_host_that_lies_is_cut_off_with_the_reason(pool, lie, reason):
    _, liar = pool
    async with asyncio.timeout(WAIT_S):
        await liar.opened.get()
        await lie(liar)
        assert reason in await liar.goodbye.get()


async def test_host_of_another_version_is_refused_with_the_reason(pool):
    server, liar = pool
    async with asyncio.timeout(WAIT_S):
        await liar.opened.get()
        liar.protocol = "agentcore.host.9"
        while "agentcore.host.9" not in (await server.host("farm.liar"))["reason"]:
            await asyncio.sleep(0.05)


async def test_frame_that_was_lost_ends_the_link_and_the_next_one_begins_anew(pool):
    server, liar = pool
    async with asyncio.timeout(WAIT_S):
        first = await liar.opened.get()
        await liar.frame(TEXT, b"{}", number=3)
        second = await liar.opened.get()
        assert first.link != second.link
        await liar.hello()
        await server.host_is("farm.liar", "running")


async def test_what_is_said_for_others_and_what_is_no_announcement_is_not_believed(pool):
    server, liar = pool
    await liar.announce("one", instance="b" * 16)
    await liar.announce("eve")
    await liar.announce(capacity=-1)
    await liar.client.publish(FARM.alive_subject(liar.name), b"\x00")
    await liar.client.publish(FARM.alive_subject("one"), b"[]")
    await liar.client.flush()
    async with asyncio.timeout(WAIT_S):
        await liar.opened.get()
    assert (await server.host("farm.one"))["state"] == "running"
    assert await server.host("farm.eve") is None


async def test_server_whose_lease_is_older_than_anothers_does_nothing_any_more(tmp_path):
    """A server that was taken for dead, while the next start of it went on with what it had."""
    async with nats_running(tmp_path / "nats") as nats, member(member_place(tmp_path / "one"), nats, "one") as worker:
        client = await nats_py.connect(nats.address)
        said: asyncio.Queue[dict] = asyncio.Queue()

        async def hear(message):
            if message.data[0] == TEXT:
                said.put_nowait(json.loads(message.data[9:]))

        async def next_of(kind):
            while (found := await said.get())["type"] != kind:
                pass
            return found

        there = asyncio.Event()

        async def hear_of_it(message):
            there.set()

        await client.subscribe(FARM.up_subject("one", "b" * 16, "c" * 16), cb=hear)
        await client.subscribe(FARM.alive_subject("one"), cb=hear_of_it)
        await worker.said("in pool 'farm'")
        wanted = OpenLink(server="b" * 16, link="c" * 16, protocol=PROTOCOL, modules=["counting"])
        number = 0

        async def tell(**message):
            nonlocal number
            number += 1
            down = FARM.down_subject("one", "b" * 16, "c" * 16)
            await client.publish(down, struct.pack("!BQ", TEXT, number) + json.dumps(message).encode())

        async def call(turn, lease):
            resource = Resource("counter_s0_0", "counter", "s0", 0)
            message = {"id": f"call_{turn}", "call": f"call_{turn}", "n": turn, "module": 1, "chatSessionId": "s0"}
            message |= {"resourceId": resource.resource_id, "resource": resource_to_wire(resource), "timeoutMs": 9000}
            message |= {"tool": "count", **arguments_to_wire({}), "principal": principal_to_wire(Principal("server"))}
            await tell(type="tool.call", **message, **({} if lease is None else {"lease": lease}))
            return await next_of("tool.result")

        async with asyncio.timeout(WAIT_S):
            await there.wait()  # from then on it hears who wants a link
            await client.publish(FARM.open_link_subject("one"), wanted.encode())
            await next_of("hello")
            await tell(type="hello.ok", ownOrigins=[], keepMinutes={"": 30.0})
            await next_of("hello.done")
            assert (await call(1, 5))["ok"]
            assert (await call(2, 6))["ok"]
            assert [(await call(turn, lease))["error"]["type"] for turn, lease in ((3, 5), (4, None))] == [
                "lease_lost",
                "lease_lost",
            ]
            assert (await call(5, 6))["ok"]
        await client.close()


async def test_call_whose_lease_nobody_gives_can_be_tried_again(tmp_path):
    async with contextlib.AsyncExitStack() as held:
        nats = await held.enter_async_context(nats_running(tmp_path / "nats"))
        await held.enter_async_context(member(member_place(tmp_path / "one"), nats, "one"))
        server = await held.enter_async_context(serving(pool_place(tmp_path / "near", nats, "counting")))
        await members_running(server, "one")
        assert (await server.call("count"))["ok"]
        client = await nats_py.connect(nats.address)
        await client.jetstream().delete_stream("KV_agentcore_farm_leases")
        await client.close()
        refused = await server.call("count", session_id="s1", timeout_ms=1500)
        assert (refused["error"]["type"], refused["error"]["retryable"]) == ("lease_unknown", True), refused
        assert (await server.call("count"))["data"]["count"] == 2
