"""Machines that dial in and lie: what they say beyond their own ends their connection, and none of it is believed."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from agentcore.api.definition import ToolDefinition
from agentcore.hosts.wire.declarations import definition_to_wire
from agentcore.hosts.wire.frames import PIECE_BYTES, PROTOCOL, encode_chunk
from agentcore.hosts.wire.web_socket_link import SOCKET_PATH
from agentcore.limits import HOST_OFFER_BYTES
from tests.hosts.two_machines import WAIT_S, Place, Server, serving

pytestmark = [pytest.mark.spec("H1", "H3"), pytest.mark.asyncio(loop_scope="session")]

TOOL = definition_to_wire(
    ToolDefinition("lie", "Lies.", {"type": "object"}, effects=frozenset(("read",))), checks_arguments=False
)
MEMBER = {
    "module": 1,
    "name": "liar",
    "fingerprint": "f",
    "attributes": {"name": "liar"},
    "description": "Lies.",
    "settings": None,
    "config_key": None,
    "hooks": ["execute_tool_call", "get_tool_definitions"],
    "tools": [TOOL],
    "problems": [],
}
RESOURCE = {
    "resource_id": "terminal_s0_0",
    "resource_type": "terminal",
    "session_id": "s0",
    "index": 0,
    "adapter_type": "",
    "status": "ready",
    "last_url": None,
    "keep_running": False,
    "created_at_ms": 0,
    "last_used_at_ms": 0,
    "title": "stolen",
    "keys": {},
}

Message = dict[str, Any]


class Liar:
    """A machine that says what a test wants."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.tools = socket, {1: [TOOL]}

    async def say(self, kind: str, /, **fields: Any) -> None:
        """Send a message."""
        await self.socket.send_json({"type": kind, **fields})

    async def hello(self, **fields: Any) -> None:
        """Greet."""
        said = {"protocol": PROTOCOL, "name": "liar", "pid": os.getpid(), "instance": "i1", "platform": "None"}
        await self.say("hello", **{**said, "members": [MEMBER], **fields})

    async def hear(self, kind: str) -> Message:
        """The next message of a type; what is asked meanwhile is answered as it has to be."""
        async with asyncio.timeout(WAIT_S):
            while True:
                frame = await self.socket.receive()
                if frame.type is aiohttp.WSMsgType.BINARY:
                    continue  # what it has asked for
                message: Message = json.loads(frame.data)
                if message["type"] == kind:
                    return message
                if message["type"] == "definitions":
                    answer = {"tools": self.tools[message["module"]], "problems": []}
                    await self.say("reply", id=message["id"], ok=True, result=answer)
                elif message["type"] == "ping":
                    await self.say("pong", n=message["n"])

    async def take_up(self, **fields: Any) -> None:
        """Greet, and be taken up."""
        await self.hello(**fields)
        await self.hear("hello.ok")
        await self.say("hello.done")

    async def result(self, call: Message, **fields: Any) -> None:
        """Give the result of a call."""
        result = {"content": [{"type": "text", "text": "done"}], "data": None}
        said = {"id": call["call"], "n": call["n"], "ok": True, "result": result} | fields
        await self.say("tool.result", **said)

    async def goodbye(self) -> str:
        """Why the server has cut it off."""
        reason: str = (await self.hear("goodbye"))["reason"]
        return reason


@asynccontextmanager
async def dialled(server: Server, key: str = "") -> AsyncIterator[Liar]:
    """A connection, with a key or without."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        aiohttp.ClientSession(server.address, headers=headers) as client,
        client.ws_connect(SOCKET_PATH, protocols=(PROTOCOL,), max_msg_size=1 << 24) as socket,
    ):
        yield Liar(socket)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cheated(tmp_path_factory):
    """The server, as a process of its own, for all tests of the file."""
    folder = tmp_path_factory.mktemp("lies")
    config = {"shell_tools": {"sandbox": "off"}}  # without bubblewrap, a person would be asked
    place = Place(folder / "server", modules=["shell_tools"], approvals={"mode": "allow"}, config=config)
    async with serving(place) as running:
        own = await running.call("bash", command="cat", background=True, session_id="s0")
        assert own["resourceId"] == RESOURCE["resource_id"], own
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def key(cheated):
    async with dialled(cheated) as liar:
        await liar.hello()
        await cheated.let_in((await liar.hear("pair.code"))["code"])
        given: str = (await liar.hear("pair.key"))["key"]
        await liar.say("pair.kept")
    return given


Lie = Callable[[Liar, Message], Any]
CUT_OFF: dict[str, tuple[Lie, str]] = {
    "result of a call that was never sent": (lambda h, c: h.result(c, n=c["n"] + 5), "never sent to it"),
    "result under another id": (lambda h, c: h.result(c, id="call_other"), "no answer to its call"),
    "asks for a call that was never sent": (
        lambda h, c: h.say("call.nested", id=7, n=c["n"] + 5, tool="bash", arguments={"command": "id"}),
        "never sent to it",
    ),
    "updates a resource of the server": (
        lambda h, c: h.say("resource.update", resource=RESOURCE),
        "not of its modules",
    ),
    "ends a resource of the server": (
        lambda h, c: h.say("resource.release", resourceId="terminal_s0_0", reason="x"),
        "not of its modules",
    ),
    "makes a resource for the server's module": (
        lambda h, c: h.say("resource.create", owner="shell_tools", resource={**RESOURCE, "index": 9}),
        "a module that it does not run",
    ),
    "holds a resource of the server": (
        lambda h, c: h.say("resource.held", owner="liar", resource=RESOURCE),
        "not of its modules",
    ),
    "speaks for a module that it has not": (
        lambda h, c: h.say("event.publish", module=99, event="x", data={}, sessionId=None),
        "a module that it does not run",
    ),
    "greets again": (lambda h, c: h.hello(), "greets a second time"),
    "no JSON": (lambda h, c: h.socket.send_str("{]"), "no JSON"),
    "deep nesting": (lambda h, c: h.socket.send_str("[" * 100_000), "no JSON"),
    "no object": (lambda h, c: h.socket.send_str("[1]"), "without a type"),
    "junk": (lambda h, c: h.socket.send_bytes(b"xyz"), "too short for its header"),
    "piece of a blob that ended": (
        lambda h, c: h.socket.send_bytes(b"\0" * 7 + b"\0" + b"\1x"),
        "a piece of a blob that has ended",
    ),
    "reply that is none": (lambda h, c: h.say("reply", id="x", ok=True, result=1), "a number was expected"),
}


@pytest.mark.parametrize("lie", CUT_OFF)
async def test_lie_cuts_the_machine_off_with_a_reason_and_nothing_of_it_counts(cheated, key, lie):
    async with dialled(cheated, key) as liar:
        await liar.take_up()
        call = asyncio.create_task(cheated.call("lie", host="liar"))
        sent = await liar.hear("tool.call")
        await CUT_OFF[lie][0](liar, sent)
        assert CUT_OFF[lie][1] in await liar.goodbye()
        ended = await call
    assert ended["error"]["type"] == "module_failed", ended
    assert CUT_OFF[lie][1] in ended["error"]["message"]
    host = await cheated.host("liar")
    assert host["state"] == "away"
    assert CUT_OFF[lie][1] in host["reason"]
    [terminal] = (await cheated.get("/api/resources"))["resources"]
    assert (terminal["title"], "host" in terminal) == ("cat", False)


GREETINGS: dict[str, tuple[Message, str]] = {
    "another protocol": ({"protocol": "agentcore.host.2"}, "this server 'agentcore.host.1'"),
    "another name": ({"name": "laptop"}, "calls itself 'laptop'"),
    "no start of its own": ({"instance": ""}, "which start of its program"),
    "two modules of one name": ({"members": [MEMBER, {**MEMBER, "module": 2}]}, "two of one name"),
    "two modules of one number": ({"members": [MEMBER, {**MEMBER, "name": "other"}]}, "two of one name or number"),
    "a name that leads elsewhere": ({"members": [{**MEMBER, "name": "../shell_tools"}]}, "no name of a module"),
    "a module with a slash": ({"members": [{**MEMBER, "name": "a/b"}]}, "no name of a module"),
    "members that are none": ({"members": [1]}, "members.0"),
    "a process that is none": ({"pid": -1}, "pid"),
}


@pytest.mark.parametrize("lie", GREETINGS)
async def test_greeting_that_is_none_is_refused_with_a_reason(cheated, key, lie):
    async with dialled(cheated, key) as liar:
        await liar.hello(**GREETINGS[lie][0])
        assert GREETINGS[lie][1] in await liar.goodbye()
    assert (await cheated.host("liar"))["state"] == "away"
    async with dialled(cheated, key) as honest:
        await honest.take_up()
        await cheated.host_is("liar", "running")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"name": "Upper Case"}, "cannot be a host's name"),
        ({"name": "server"}, "cannot be a host's name"),
        ({"protocol": "x"}, "this server"),
        ({"members": [{**MEMBER, "name": "a b"}]}, "no name of a module"),
    ],
)
async def test_greeting_of_an_unknown_machine_that_is_none_is_refused(cheated, said, reason):
    async with dialled(cheated) as liar:
        await liar.hello(**said)
        assert reason in await liar.goodbye()


async def test_unknown_machine_is_asked_nothing_and_told_nothing_but_its_code(cheated):
    async with dialled(cheated) as liar:
        await liar.hello()
        code = await liar.hear("pair.code")
        await liar.say("event.subscribe", module=1, subscription=1, pattern="*")
        await liar.say("call.nested", id=1, n=1, tool="bash", arguments={"command": "id"})
        refused = await liar.hear("reply")
        assert (refused["ok"], refused["error"]["type"]) == (False, "unknown_message")
    assert set(code) == {"type", "code", "expiresAt"}
    gone = await cheated.decide("/api/host-pairings", code=code["code"])
    assert gone["error"]["type"] == "invalid_code"


@pytest.mark.parametrize("greets", [True, False])
async def test_machines_that_wait_are_bounded_for_one_address(cheated, greets):
    """Those that say nothing as well: a connection is counted before anything of it is read."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(4):
            liar = await stack.enter_async_context(dialled(cheated))
            if greets:
                await liar.hello()
                await liar.hear("pair.code")
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await stack.enter_async_context(dialled(cheated))
        assert refused.value.status == 429
        await liar.socket.close()
        again = await stack.enter_async_context(dialled_once_there_is_room(cheated))
        await again.hello()
        await again.hear("pair.code")


@asynccontextmanager
async def dialled_once_there_is_room(server: Server) -> AsyncIterator[Liar]:
    """A connection of a machine that is not paired, once one of those that wait has gone."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                async with dialled(server) as liar:
                    yield liar
                    return
            except aiohttp.WSServerHandshakeError:
                await asyncio.sleep(0.05)


def many_tools(count: int) -> list[Message]:
    """Definitions of some 500 bytes each."""
    return [{**TOOL, "name": f"lie_{number}", "description": "x" * 300} for number in range(count)]


async def test_unknown_machine_is_read_no_long_message(cheated):
    async with dialled_once_there_is_room(cheated) as liar:
        await liar.hello(members=[{**MEMBER, "tools": many_tools(300)}])
        assert (await liar.socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert liar.socket.close_code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
    async with dialled_once_there_is_room(cheated) as honest:
        await honest.hello(members=[{**MEMBER, "tools": many_tools(60)}])
        shown = await cheated.decide("/api/host-pairings", code=(await honest.hear("pair.code"))["code"])
        assert len(shown["modules"][0]["tools"]) == 60


async def test_unknown_machine_may_send_no_blob_before_it_is_asked(cheated):
    async with dialled_once_there_is_room(cheated) as liar:
        await liar.hello(hasMore=True, members=[])
        await liar.hear("pair.code")
        await liar.socket.send_bytes(encode_chunk(1, b"x", is_last=False))
        assert "bytes, or" in await liar.goodbye()


async def offer(liar: Liar, *, size: int = 0, **fields: Any) -> None:
    """Answer the question what a machine brings."""
    asked = await liar.hear("pair.offer")
    said = {"protocol": PROTOCOL, "name": "liar", "pid": os.getpid(), "instance": "i1", "members": [MEMBER], **fields}
    data = json.dumps(said).encode().ljust(size)
    for begin in range(0, len(data), PIECE_BYTES):
        is_last = begin + PIECE_BYTES >= len(data)
        await liar.socket.send_bytes(encode_chunk(1, data[begin : begin + PIECE_BYTES], is_last=is_last))
    await liar.say("reply", id=asked["id"], ok=True, result={"blob": 1})


@pytest.mark.more
async def test_machine_says_what_it_brings_once_its_code_was_typed(cheated):
    async with dialled_once_there_is_room(cheated) as liar:
        await liar.hello(hasMore=True, members=[])
        code = (await liar.hear("pair.code"))["code"]
        await liar.say("ping", n=1)
        assert (await liar.socket.receive_json())["type"] == "pong"  # and nothing before it
        finding = asyncio.create_task(cheated.decide("/api/host-pairings", code=code))
        await offer(liar, members=[{**MEMBER, "tools": many_tools(2000)}])
        [module] = (await finding)["modules"]
        assert len(module["tools"]) == 2000
        # it is not asked again
        assert (await cheated.decide("/api/host-pairings", code=code))["modules"] == [module]


OFFERS: dict[str, tuple[Message, str]] = {
    "another name": ({"name": "laptop"}, "greeted as another host"),
    "another start": ({"instance": "i2"}, "greeted as another host"),
    "two modules of one name": ({"members": [MEMBER, {**MEMBER, "module": 2}]}, "two of one name"),
    "no members": ({"members": 1}, "members"),
    "too much": ({"size": HOST_OFFER_BYTES + 2 * PIECE_BYTES}, "bytes, or"),
}


@pytest.mark.parametrize("lie", OFFERS)
async def test_offer_that_is_none_ends_the_pairing_with_a_reason(cheated, lie):
    async with dialled_once_there_is_room(cheated) as liar:
        await liar.hello(hasMore=True, members=[])
        code = (await liar.hear("pair.code"))["code"]
        finding = asyncio.create_task(cheated.decide("/api/host-pairings", code=code))
        with contextlib.suppress(ConnectionError):  # it is cut off before it has said all
            await offer(liar, **OFFERS[lie][0])
        error = (await finding)["error"]
        assert error["type"] == "pairing_not_found"
        assert OFFERS[lie][1] in error["message"]
        assert (await cheated.decide("/api/host-pairings", code=code))["error"]["type"] == "invalid_code"


async def test_a_page_cannot_dial_in_and_a_wrong_key_opens_nothing(cheated):
    async with aiohttp.ClientSession(cheated.address) as client:
        async with client.get(SOCKET_PATH, headers={"Origin": cheated.address}) as answer:
            assert (answer.status, (await answer.json())["error"]["type"]) == (403, "foreign_origin")
        for wrong in ("achk_wrong", "t" * 43):
            async with client.get(SOCKET_PATH, headers={"Authorization": f"Bearer {wrong}"}) as answer:
                assert (answer.status, (await answer.json())["error"]["type"]) == (401, "unauthorized")
        async with client.get(SOCKET_PATH) as answer:
            assert (answer.status, (await answer.json())["error"]["type"]) == (426, "upgrade_required")


async def test_the_key_of_a_host_opens_nothing_else(cheated, key):
    async with aiohttp.ClientSession(cheated.address, headers={"Authorization": f"Bearer {key}"}) as client:
        for path in ("/api/tools", "/api/hosts", "/api/events", "/mcp"):
            async with client.get(path) as answer:
                assert answer.status == 401, path


async def test_machine_hears_of_no_events_but_those_of_its_own(cheated, key):
    async with dialled(cheated, key) as liar:
        await liar.take_up()
        await cheated.host_is("liar", "running")
        await liar.say("event.subscribe", module=1, subscription=1, pattern="*")
        await cheated.call("bash", command="echo secret")
        call = asyncio.create_task(cheated.call("lie", host="liar"))
        sent = await liar.hear("tool.call")
        await liar.say("resource.create", owner="liar", resource=_own("box_s0_0", "box"))
        heard = await liar.hear("event.notify")
        await liar.result(sent)
        assert (await call)["ok"] is True
    assert heard["event"]["resourceId"] == "box_s0_0", json.dumps(heard)


def terminal_of_host(session: str, index: int) -> Message:
    """A terminal that a host says it has made."""
    return {**RESOURCE, "resource_id": f"terminal_{session}_{index}", "session_id": session, "index": index}


async def test_host_cannot_move_the_indexes_of_a_session_far(cheated, key):
    async with dialled(cheated, key) as liar:
        await liar.take_up()
        for index in (1_000_000, 5):
            await liar.say("resource.create", owner="liar", resource=terminal_of_host("far", index))
        released = await liar.hear("resource.release")
        await liar.say("reply", id=released["id"], ok=True, result={})
        await cheated.host_is("liar", "running")
        own = await cheated.call("bash", command="cat", background=True, session_id="far")
        assert released["resourceId"] == "terminal_far_1000000"
        assert own["resourceId"] == "terminal_far_6", own  # the other one of the host counts


async def test_host_cannot_use_up_the_resources_of_a_session(cheated, key):
    async with dialled(cheated, key) as liar:
        await liar.take_up()
        for index in range(101):
            await liar.say("resource.create", owner="liar", resource=terminal_of_host("full", index))
        released = await liar.hear("resource.release")
        await liar.say("reply", id=released["id"], ok=True, result={})
        own = await cheated.call("bash", command="cat", background=True, session_id="full")
        assert released["resourceId"] == "terminal_full_100"
        assert own["resourceId"] == "terminal_full_100", own


def _own(resource_id: str, kind: str) -> Message:
    return {**RESOURCE, "resource_id": resource_id, "resource_type": kind, "title": None}


async def test_no_other_machine_stands_in_while_a_program_that_was_started_anew_is_taken_up(cheated):
    """Its first module is asked for its tools, and does not answer yet; the second has one that the server has, too."""
    second = {**MEMBER, "module": 2, "name": "second", "attributes": {"name": "second"}}
    own = {"name": "twin", "members": [MEMBER, {**second, "tools": [{**TOOL, "name": "bash"}]}]}
    async with dialled(cheated) as liar:
        await liar.hello(**own)
        await cheated.let_in((await liar.hear("pair.code"))["code"])
        key = (await liar.hear("pair.key"))["key"]
        await liar.say("pair.kept")
    async with dialled(cheated, key) as former:
        former.tools[2] = own["members"][1]["tools"]
        await former.take_up(instance="before", **own)
        await cheated.host_is("twin", "running")
    await cheated.host_is("twin", "away")
    async with dialled(cheated, key) as anew:
        await anew.hello(instance="after", **own)
        async with asyncio.timeout(WAIT_S):
            while (await anew.socket.receive_json())["type"] != "definitions":
                pass
        outcome = await cheated.call("bash", command="echo here", host="twin", timeout_ms=500)
    assert outcome.get("error", {}).get("type") == "host_away", outcome
    assert outcome["error"]["retryable"] is True
