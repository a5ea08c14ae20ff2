"""What a call asks on its way: of a client that is asked at once, and of one that is asked in rounds."""

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from agentcore.api import Module, ToolContext, ToolError, tool
from tests.server.mcp_transports.conftest import LIMIT_S
from tests.server.mcp_transports.test_calls import said
from tests.server.mcp_transports.test_stateless import ask, calling, hand

FORMS = {"elicitation": {"form": {}}}
BOTH = {"elicitation": {"form": {}, "url": {}}}


class Clerk(Module):
    """Asks before it acts."""

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    @tool(effects=["session"])
    async def clerk_greet(self, ctx: ToolContext, formal: bool = False) -> str:
        """Greet whoever is there."""
        self.runs += 1
        name = await ctx.ask("What is your name?")
        return f"Good day, {name}" if formal else f"Hello, {name}"

    @tool(effects=["session"])
    async def clerk_order(self, ctx: ToolContext) -> str:
        """Take an order."""
        drink = await ctx.ask("What to drink?", ["tea", "coffee"])
        food = await ctx.ask("And to eat?")
        return f"{drink} and {food}"

    @tool(effects=["session"])
    async def clerk_pair(self, ctx: ToolContext) -> str:
        """Ask two things at once."""
        return " and ".join(await asyncio.gather(ctx.ask("One?"), ctx.ask("Two?")))

    @tool(effects=["session"])
    async def clerk_lock(self, ctx: ToolContext) -> str:
        """Ask for a password."""
        return await ctx.ask("The password?", is_secret=True)

    @tool(effects=["session"])
    async def clerk_wait(self, ctx: ToolContext) -> str:
        """Ask, and do not wait long."""
        try:
            return await ctx.ask("Quick?", timeout_s=0.01)
        except ToolError as exc:
            self.runs += 1
            return exc.type


class Desk(Module):
    """Wants more than an answer."""

    @tool(effects=["session"])
    async def desk_book(self, ctx: ToolContext) -> dict[str, Any]:
        """Have a form filled in."""
        seats = {"type": "integer", "minimum": 1, "maximum": 4, "default": 2}
        times = {"type": "array", "items": {"type": "string", "enum": ["noon", "night"]}}
        properties = {"name": {"type": "string", "maxLength": 10}, "seats": seats, "times": times}
        schema = {"title": "booking", "type": "object", "properties": properties, "required": ["name"]}
        return await ctx.ask("Your booking?", schema=schema)

    @tool(effects=["session"])
    async def desk_write(self, ctx: ToolContext) -> str:
        """Have the client's model write."""
        return await ctx.sample("Greet Ada.", system="Be short.", max_tokens=50)

    @tool(effects=["session"])
    async def desk_all(self, ctx: ToolContext) -> list[Any]:
        """Want all at once, and take what comes."""
        form = {"title": "who", "type": "object", "properties": {"name": {"type": "string"}}}
        wishes = (ctx.ask("Who?", schema=form), ctx.sample("Write."), ctx.client_roots())
        found = await asyncio.gather(*wishes, return_exceptions=True)
        return [each.type if isinstance(each, ToolError) else each for each in found]


def with_capabilities(message, capabilities):
    """A call of a client that can be asked."""
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities
    return message


async def begin(client, tool, arguments=None, capabilities=FORMS, **more):
    """The result of a call of a client that can be asked."""
    message = with_capabilities(calling(tool, arguments, **more), capabilities)
    status, answer, _ = await ask(client, message)
    return answer["result"] if status == 200 else answer["error"]


def accepted(**content):
    return {"action": "accept", "content": content}


async def go_on(client, tool, before, arguments=None, capabilities=FORMS, **answers):
    """The same request again, with answers."""
    more = {"requestState": before["requestState"], "inputResponses": answers}
    return await begin(client, tool, arguments, capabilities, **more)


async def test_question_of_a_call_ends_its_request_and_the_answer_goes_on_with_it(start_mcp):
    clerk = Clerk()
    mcp = await start_mcp([clerk])
    client = await hand(mcp)
    first = await begin(client, "clerk_greet", {"formal": True})
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["answer"] == {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
            },
        },
    }
    last = await go_on(client, "clerk_greet", first, {"formal": True}, answer=accepted(answer="Ada"))
    assert (said(last), last["resultType"]) == ("Good day, Ada", "complete")
    assert clerk.runs == 1


async def test_call_asks_several_times_or_several_things_at_once(start_mcp):
    mcp = await start_mcp([Clerk()])
    client = await hand(mcp)
    first = await begin(client, "clerk_order")
    schema = first["inputRequests"]["answer"]["params"]["requestedSchema"]
    assert schema["properties"]["answer"]["enum"] == ["tea", "coffee"]
    second = await go_on(client, "clerk_order", first, answer=accepted(other="milk"))
    assert second["inputRequests"]["answer"]["params"]["message"] == "And to eat?"
    assert said(await go_on(client, "clerk_order", second, answer=accepted(answer="cake"))) == "milk and cake"
    pair = await begin(client, "clerk_pair")
    assert pair["inputRequests"].keys() == {"answer", "answer_2"}
    rest = await go_on(client, "clerk_pair", pair, answer_2=accepted(answer="2"), unknown=accepted(answer="x"))
    assert rest["inputRequests"].keys() == {"answer"}
    assert said(await go_on(client, "clerk_pair", rest, answer=accepted(answer="1"))) == "1 and 2"


async def test_state_is_of_use_to_its_client_for_its_call_alone_and_once(start_mcp):
    clerk = Clerk()
    mcp = await start_mcp([clerk])
    client, thief = await hand(mcp), await hand(mcp, "thief")
    first = await begin(client, "clerk_greet")
    answer = {"answer": accepted(answer="Ada")}
    changed = first | {"requestState": first["requestState"][:-4] + "AAAA"}
    for refused in (
        await go_on(client, "clerk_greet", changed, **answer),
        await go_on(client, "clerk_greet", first, {"formal": True}, **answer),
        await go_on(client, "clerk_order", first, **answer),
        await go_on(thief, "clerk_greet", first, **answer),
    ):
        assert (refused["code"], refused["data"]) == (-32602, {"reason": "invalid_request_state"})
    assert said(await go_on(client, "clerk_greet", first, **answer)) == "Hello, Ada"
    again = await go_on(client, "clerk_greet", first, **answer)
    assert (again["code"], "has ended" in again["message"]) == (-32602, True)
    assert clerk.runs == 1


@pytest.mark.parametrize("said_no", [{"action": "decline"}, {"action": "cancel"}, accepted(answer=" "), accepted()])
async def test_person_who_gives_no_answer_is_nobody(start_mcp, said_no):
    mcp = await start_mcp([Clerk()])
    client = await hand(mcp)
    first = await begin(client, "clerk_greet")
    last = await go_on(client, "clerk_greet", first, answer=said_no)
    assert (last["isError"], said(last).startswith("Error no_person:")) == (True, True)


async def test_answer_of_another_kind_is_asked_for_again(start_mcp):
    mcp = await start_mcp([Clerk()])
    client = await hand(mcp)
    first = await begin(client, "clerk_greet")
    again = await go_on(client, "clerk_greet", first, answer={"roots": []})
    assert again["inputRequests"] == first["inputRequests"]
    assert (await begin(client, "clerk_greet", inputResponses={"answer": 12345}))["code"] == -32602


async def test_client_without_forms_is_not_asked_and_no_client_for_a_secret(start_mcp, by_hand):
    mcp = await start_mcp([Clerk()])
    client = await hand(mcp)
    assert "no_person" in said(await begin(client, "clerk_greet", capabilities={}))
    assert "no_person" in said(await begin(client, "clerk_greet", capabilities={"elicitation": {"url": {}}}))
    assert "no_person" in said(await begin(client, "clerk_lock"))
    legacy = await by_hand(mcp, "legacy")
    assert "no_person" in said(await legacy.call("clerk_greet"))


async def test_client_that_does_not_come_back_leaves_nothing_behind(start_mcp):
    clerk = Clerk()
    mcp = await start_mcp([clerk], clients={"hand": {"calls_in_flight": 1}})
    client = await hand(mcp)
    first = await begin(client, "clerk_wait")
    async with asyncio.timeout(LIMIT_S):
        while clerk.runs == 0:  # the question has ended by itself
            await asyncio.sleep(0.01)
    assert said(await go_on(client, "clerk_wait", first)) == "no_person"
    await begin(client, "clerk_greet")
    assert "too_many_calls" in said(await begin(client, "clerk_greet"))  # what waits for it counts
    await mcp.stop()


async def test_client_is_asked_to_open_the_approval_view_and_its_answer_decides_nothing(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    wish = ("shop_sell", {"item": "rice"})
    first = await begin(client, *wish, capabilities=BOTH)
    params = first["inputRequests"]["approval"]["params"]
    assert (params["mode"], params["url"]) == ("url", mcp.server.approval_address)
    for action in ("accept", "decline", "cancel"):
        waiting = await go_on(client, wish[0], first, wish[1], BOTH, approval={"action": action})
        assert "approval_required" in said(waiting)
        assert mcp.shop.sold == []
    assert len(await mcp.waiting()) == 1
    await mcp.decide()
    assert said(await go_on(client, wish[0], first, wish[1], BOTH)) == "sold rice"
    assert mcp.shop.sold == ["rice"]


async def test_approval_is_found_again_by_its_state_after_a_restart(start_mcp):
    mcp = await start_mcp()
    client = await hand(mcp)
    first = await begin(client, "shop_sell", {"item": "rice"}, BOTH)
    await mcp.stop()
    again = await start_mcp()
    client.url = again.url + "?wait=1"
    await again.decide()
    assert said(await go_on(client, "shop_sell", first, {"item": "rice"}, BOTH)) == "sold rice"
    assert again.shop.sold == ["rice"]


@asynccontextmanager
async def asked(mcp, answer, mode, query="?wait=60"):
    """The SDK's client, with a person in front of it."""
    shown = {"Authorization": f"Bearer {await mcp.key('asked')}"}
    questions: list[Any] = []

    async def elicit(context, params):
        questions.append(params)
        return answer(params)

    async with (
        httpx2.AsyncClient(headers=shown, timeout=LIMIT_S) as http,
        Client(
            streamable_http_client(mcp.url + query, http_client=http), mode=mode, elicitation_callback=elicit
        ) as client,
    ):
        yield client, questions


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_sdk_s_client_asks_its_person_in_each_kind_of_revision(start_mcp, mode):
    mcp = await start_mcp([Clerk()])
    given = types.ElicitResult(action="accept", content={"answer": "Ada"})
    async with asked(mcp, lambda _: given, mode) as (client, questions):
        assert said(await client.call_tool("clerk_greet", {})) == "Hello, Ada"
    assert [each.message for each in questions] == ["What is your name?"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_sdk_s_client_offers_the_approval_view_and_declines_without_effect(start_mcp, mode):
    mcp = await start_mcp()
    async with asked(mcp, lambda _: types.ElicitResult(action="decline"), mode) as (client, questions):
        call = asyncio.create_task(client.call_tool("shop_sell", {"item": "tea"}))
        await mcp.waiting()
        async with asyncio.timeout(LIMIT_S):
            while not questions:
                await asyncio.sleep(0.01)
        assert questions[0].url == mcp.server.approval_address
        assert mcp.shop.sold == []
        if mode == "auto":  # closing a request cancels it there: none stays open for a person
            assert "approval_required" in said(await call)
        await mcp.decide()
        result = await (client.call_tool("shop_sell", {"item": "tea"}) if mode == "auto" else call)
        assert said(result) == "sold tea"
    assert mcp.shop.sold == ["tea"]


ALL = {"elicitation": {}, "sampling": {}, "roots": {}}


def written(text):
    return {"role": "assistant", "model": "m", "content": {"type": "text", "text": text}}


async def test_form_is_checked_and_asked_for_again_with_what_is_wrong(start_mcp):
    mcp = await start_mcp([Desk()])
    client = await hand(mcp)
    first = await begin(client, "desk_book")
    assert "title" not in first["inputRequests"]["booking"]["params"]["requestedSchema"]
    again = await go_on(client, "desk_book", first, booking=accepted(name="Ada", seats=9))
    assert again["inputRequests"]["booking"]["params"]["message"] == "Your booking?\n\nseats must be at most 4"
    again = await go_on(client, "desk_book", again, booking=accepted(seats=3))
    assert again["inputRequests"]["booking"]["params"]["message"].endswith("name is missing")
    last = await go_on(client, "desk_book", again, booking=accepted(name="Ada", times=["noon"], more="x"))
    assert last["structuredContent"] == {"name": "Ada", "seats": 2, "times": ["noon"]}
    first = await begin(client, "desk_book")
    for fault in ({"name": 1}, {"name": "A" * 11}, {"name": "Ada", "times": ["dawn"]}):
        first = await go_on(client, "desk_book", first, booking=accepted(**fault))
    assert said(first).startswith("Error no_person: the answer is none that was asked for (times must be one of noon")


async def test_client_s_model_writes_and_a_client_without_one_is_told_what_is_missing(start_mcp, by_hand):
    mcp = await start_mcp([Desk()])
    client = await hand(mcp)
    first = await begin(client, "desk_write", capabilities=ALL)
    assert first["inputRequests"]["sample"] == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada."}}],
            "maxTokens": 50,
            "systemPrompt": "Be short.",
        },
    }
    assert said(await go_on(client, "desk_write", first, capabilities=ALL, sample=written("Hello"))) == "Hello"
    status, answer, _ = await ask(client, calling("desk_write"))
    assert (status, answer["error"]["code"]) == (400, -32021)
    assert answer["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}
    assert "no_model" in said(await (await by_hand(mcp, "legacy")).call("desk_write"))


async def test_all_that_is_wanted_at_once_comes_in_one_round_and_only_what_the_client_takes(start_mcp):
    mcp = await start_mcp([Desk()])
    client = await hand(mcp)
    first = await begin(client, "desk_all", capabilities=ALL)
    assert first["inputRequests"].keys() == {"who", "sample", "roots"}
    roots = {"roots": [{"uri": "file:///home/ada", "name": "home"}]}
    answers = {"who": accepted(name="Ada"), "sample": written("Hi"), "roots": roots}
    last = await go_on(client, "desk_all", first, capabilities=ALL, **answers)
    assert json.loads(said(last)) == [{"name": "Ada"}, "Hi", ["file:///home/ada"]]
    partly = await begin(client, "desk_all", capabilities={"sampling": {}})
    assert partly["inputRequests"].keys() == {"sample"}
    last = await go_on(client, "desk_all", partly, capabilities={"sampling": {}}, sample=written("Hi"))
    assert json.loads(said(last)) == ["no_person", "Hi", []]


async def test_sdk_s_client_writes_and_says_its_roots_on_the_way_of_a_call(start_mcp):
    mcp = await start_mcp([Desk()])

    async def write(context, params):
        return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(text="Hi"))

    async def roots(context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///home/ada")])

    shown = {"Authorization": f"Bearer {await mcp.key('able')}"}
    async with (
        httpx2.AsyncClient(headers=shown, timeout=LIMIT_S) as http,
        Client(
            streamable_http_client(mcp.url, http_client=http),
            mode="legacy",
            sampling_callback=write,
            list_roots_callback=roots,
        ) as client,
    ):
        assert json.loads(said(await client.call_tool("desk_all", {}))) == ["no_person", "Hi", ["file:///home/ada"]]
