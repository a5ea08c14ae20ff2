"""What clients have asked to be told of: what a call says of its work, and resources that are something else now."""

import asyncio
import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from agentcore.api import Module, ToolContext, tool
from tests.server.mcp_transports.conftest import ACCEPT, LIMIT_S, REVISION, request
from tests.server.mcp_transports.test_stateless import META, Stream, calling, hand, open_stream, whole

LEVELS = ("debug", "info", "warning", "error")


class Oven(Module):
    """An oven, which says what it does, and whose heat is watched."""

    @tool(effects=["session"])
    async def oven_bake(self, ctx: ToolContext) -> str:
        """Bake."""
        for level in LEVELS:
            ctx.log(f"{level} of the oven", level=level)
        await asyncio.to_thread(ctx.log, "from a thread", level="error")
        return "baked"

    @tool(effects=["session"])
    async def oven_order(self, ctx: ToolContext) -> str:
        """Have something baked."""
        await ctx.call("oven_bake", {})
        return "ordered"

    @tool(effects=["session"])
    async def oven_rattle(self, ctx: ToolContext) -> str:
        """Say too much."""
        for number in range(1500):
            ctx.log(f"{number} " + "x" * 5000)
        return "quiet"

    @tool(effects=["session"])
    async def oven_mistake(self, ctx: ToolContext, level: str) -> str:
        """Say something of a level that there is not."""
        ctx.log("what?", level=level)
        return "said"

    @tool(effects=["session"], served_as="oven://heat")
    async def oven_heat(self) -> str:
        """How hot it is."""
        return "200"

    @tool(effects=["session"], served_as="oven://shelf/{number}")
    async def oven_shelf(self, number: int) -> str:
        """What is on a shelf."""
        return f"bread {number}"


class Thief(Module):
    """Tells of what is not its own."""

    @tool(effects=["session"])
    async def thief_tell(self) -> str:
        """Tell that the oven has changed."""
        self.runtime.served_changed("oven://heat")
        return "told"


@asynccontextmanager
async def stream_of(client, method="GET", message=None):
    """The events of one answer within a session."""
    shown = {
        "Accept": ACCEPT,
        "Authorization": f"Bearer {client.key}",
        "Mcp-Session-Id": client.session,
        "Mcp-Protocol-Version": REVISION,
    }
    async with (
        aiohttp.ClientSession(headers=shown) as http,
        http.request(method, client.url, json=message) as answer,
    ):
        assert answer.status == 200, await answer.text()
        yield Stream(answer)


async def told_in(client, name, arguments=None):
    """What a session is told in the stream of a call, and its result."""
    message = request("tools/call", {"name": name, "arguments": arguments or {}}, 7)
    async with stream_of(client, "POST", message) as stream:
        *told, last = [json.loads(line.removeprefix(b"data: ")) for line in await stream.rest()]
    assert {each["method"] for each in told} == {"notifications/message"}
    return [each["params"] for each in told], last["result"]


async def ask(client, method, params):
    """What a session is answered."""
    return (await client.post(request(method, params)))[1]


# -- what a call says of its work ----------------------------------------------------------------------------------


async def test_session_is_told_what_its_calls_say_from_the_level_on_that_it_asks_for(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    client = await by_hand(mcp)
    assert (await ask(client, "logging/setLevel", {"level": "warning"}))["result"] == {}
    told, result = await told_in(client, "oven_bake")
    assert told == [
        {"level": "warning", "logger": "oven_bake", "data": "warning of the oven"},
        {"level": "error", "logger": "oven_bake", "data": "error of the oven"},
        {"level": "error", "logger": "oven_bake", "data": "from a thread"},
    ]
    assert result["content"][0]["text"] == "baked"


async def test_session_that_has_not_asked_is_told_nothing_and_answered_at_once(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    asking, other = await by_hand(mcp), await by_hand(mcp, "other")
    await ask(asking, "logging/setLevel", {"level": "debug"})
    _, answer, headers = await other.post(request("tools/call", {"name": "oven_bake", "arguments": {}}))
    assert headers["Content-Type"] == "application/json"
    assert answer["result"]["content"][0]["text"] == "baked"


async def test_calls_that_a_call_makes_are_heard_under_their_own_names(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    client = await by_hand(mcp)
    await ask(client, "logging/setLevel", {"level": "error"})
    told, _ = await told_in(client, "oven_order")
    assert {each["logger"] for each in told} == {"oven_bake"}


async def test_what_one_call_says_is_bounded_and_that_is_said(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    client = await by_hand(mcp)
    await ask(client, "logging/setLevel", {"level": "debug"})
    told, result = await told_in(client, "oven_rattle")
    assert len(told) <= 1000
    assert max(len(each["data"]) for each in told) <= 2000
    assert result["content"][0]["text"] == "quiet"


@pytest.mark.parametrize("level", ["loud", "", None])
async def test_level_that_there_is_not_is_refused(start_mcp, by_hand, level):
    mcp = await start_mcp([Oven()])
    assert (await ask(await by_hand(mcp), "logging/setLevel", {"level": level}))["error"]["code"] == -32602


async def test_module_that_names_a_wrong_level_harms_its_call_alone(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    client = await by_hand(mcp)
    assert (await client.call("oven_mistake", {"level": "loud"}))["isError"]
    assert (await client.call("oven_mistake", {"level": "info"}))["content"][0]["text"] == "said"


async def test_in_the_stateless_revision_each_request_says_for_itself_what_it_wants_to_hear(start_mcp):
    mcp = await start_mcp([Oven()])
    client = await hand(mcp)
    async with open_stream(client, calling("oven_bake", _meta={META + "logLevel": "error"})) as stream:
        told = [await stream.next() for _ in range(3)]
    assert [each.get("params", {}).get("data") for each in told] == ["error of the oven", "from a thread", None]
    assert told[-1]["result"]["content"][0]["text"] == "baked"


# -- resources that are something else now ---------------------------------------------------------------------------


async def changes(stream):
    """The address that a client is told of next."""
    told = await stream.next()
    assert told["method"] == "notifications/resources/updated"
    return told["params"]["uri"]


async def test_session_is_told_of_the_resources_that_it_watches(start_mcp, by_hand):
    oven = Oven()
    mcp = await start_mcp([oven])
    client = await by_hand(mcp)
    for uri in ("oven://heat", "oven://shelf/2"):
        assert (await ask(client, "resources/subscribe", {"uri": uri}))["result"] == {}
    async with stream_of(client) as stream:
        oven.runtime.served_changed("oven://shelf/1")
        oven.runtime.served_changed("oven://shelf/2")
        assert await changes(stream) == "oven://shelf/2"
        await ask(client, "resources/unsubscribe", {"uri": "oven://shelf/2"})
        oven.runtime.served_changed("oven://shelf/2")
        for _ in range(50):
            oven.runtime.served_changed("oven://heat")
        assert await changes(stream) == "oven://heat"
        oven.runtime.served_changed("oven://heat")
        assert await changes(stream) == "oven://heat"  # the fifty were told as one


async def test_module_tells_of_its_own_resources_alone(start_mcp, by_hand):
    oven = Oven()
    mcp = await start_mcp([oven, Thief()])
    client = await by_hand(mcp)
    for uri in ("oven://heat", "oven://shelf/1"):
        await ask(client, "resources/subscribe", {"uri": uri})
    async with stream_of(client) as stream:
        await client.call("thief_tell")
        oven.runtime.served_changed("oven://shelf/1")
        assert await changes(stream) == "oven://shelf/1"


async def test_what_a_client_may_not_read_it_cannot_watch(start_mcp, by_hand):
    mcp = await start_mcp([Oven()], clients={"hand": {"tools": ["oven_shelf"]}})
    client = await by_hand(mcp)
    assert (await ask(client, "resources/subscribe", {"uri": "oven://shelf/1"}))["result"] == {}
    for uri in ("oven://heat", "agentcore://artifacts/none", "ui://agentcore/oven_bake", "x"):
        refused = (await ask(client, "resources/subscribe", {"uri": uri}))["error"]
        assert refused["code"] == -32602
        assert refused["data"]["type"].endswith("_not_found")


async def test_session_watches_as_many_resources_as_it_may(start_mcp, by_hand):
    mcp = await start_mcp([Oven()])
    client = await by_hand(mcp)
    for number in range(100):
        assert "result" in await ask(client, "resources/subscribe", {"uri": f"oven://shelf/{number}"})
    refused = (await ask(client, "resources/subscribe", {"uri": "oven://heat"}))["error"]
    assert refused["data"]["type"] == "too_many_watched"
    await ask(client, "resources/unsubscribe", {"uri": "oven://shelf/0"})
    assert "result" in await ask(client, "resources/subscribe", {"uri": "oven://heat"})


async def test_what_a_session_has_asked_to_be_told_holds_after_a_restart_and_ends_with_it(start_mcp, by_hand):
    oven = Oven()
    mcp = await start_mcp([oven])
    client = await by_hand(mcp)
    await ask(client, "resources/subscribe", {"uri": "oven://heat"})
    await ask(client, "logging/setLevel", {"level": "error"})
    await mcp.stop()
    again = await start_mcp([oven])
    client.url = again.url
    async with stream_of(client) as stream:
        oven.runtime.served_changed("oven://heat")
        assert await changes(stream) == "oven://heat"
    assert [each["data"] for each in (await told_in(client, "oven_bake"))[0]] == ["error of the oven", "from a thread"]


async def test_in_the_stateless_revision_who_listens_is_told_of_what_it_may_read(start_mcp):
    oven = Oven()
    mcp = await start_mcp([oven], clients={"hand": {"tools": ["oven_shelf"]}})
    client = await hand(mcp)
    wanted = {"notifications": {"resourceSubscriptions": ["oven://heat", "oven://shelf/1"]}}
    async with open_stream(client, whole("subscriptions/listen", wanted, "listen-1")) as stream:
        agreed = await stream.next()
        assert agreed["params"]["notifications"]["resourceSubscriptions"] == ["oven://shelf/1"]
        oven.runtime.served_changed("oven://heat")
        oven.runtime.served_changed("oven://shelf/1")
        async with asyncio.timeout(LIMIT_S):
            assert await changes(stream) == "oven://shelf/1"
