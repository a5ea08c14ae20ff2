"""Calls of MCP clients, which know nothing of approvals: asked once, run once, and always told what to do."""

import asyncio

import pytest

from agentcore.api import Audio, EmbeddedResource, Module, Text, ToolContext, ToolResult, tool
from tests.server.mcp_transports.conftest import LIMIT_S, request
from tests.support.waiting import wait_until


def said(result):
    """The text of a result, of the SDK's client or as JSON."""
    content = result["content"] if isinstance(result, dict) else result.content
    return "\n".join(block["text"] if isinstance(block, dict) else block.text for block in content)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_client_of_each_kind_of_revision_lists_and_calls_tools(start_mcp, mode):
    mcp = await start_mcp()
    async with mcp.client(await mcp.key(), mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["shop_look"].description == "Look at a shelf."
        assert listed["shop_look"].input_schema["required"] == ["shelf"]
        assert listed["shop_look"].annotations.read_only_hint is True
        result = await client.call_tool("shop_look", {"shelf": "rice"})
        assert (result.is_error, said(result)) == (False, '{"shelf":"rice","goods":3}')
        assert result.structured_content == {"shelf": "rice", "goods": 3}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_each_revision_with_a_handshake_is_agreed_on(start_mcp, by_hand, version):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    hand.session = ""
    told = await hand.connect(version)
    assert told["protocolVersion"] == version
    assert told["serverInfo"]["name"] == "agentcore"
    assert told["capabilities"]["tools"] == {"listChanged": True}


@pytest.mark.slow
async def test_call_that_needs_a_person_says_where_and_runs_once_when_it_is_sent_again(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    first = await hand.call("shop_sell", {"item": "rice"})
    assert first["isError"]
    assert said(first).startswith("Error approval_required: a person has to approve this call first, at ")
    assert mcp.server.approval_address in said(first)
    await hand.call("shop_sell", {"item": "rice"})
    assert len(await mcp.waiting()) == 1  # the same wish, and not asked twice
    await mcp.decide()
    assert mcp.shop.sold == []  # nobody waits for it: it runs when it is sent again
    assert said(await hand.call("shop_sell", {"item": "rice", "count": None})) == "sold rice"
    assert mcp.shop.sold == ["rice"]
    again = await hand.call("shop_sell", {"item": "rice"})
    assert again["isError"]  # a new wish, which is asked about anew
    assert mcp.shop.sold == ["rice"]


async def test_call_that_is_decided_while_its_client_waits_runs_at_once(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "tea"}))
    await mcp.decide()
    assert said(await call) == "sold tea"
    call = asyncio.create_task(hand.call("shop_sell", {"item": "salt"}))
    await mcp.decide(approved=False)
    assert "approval_denied" in said(await call)
    assert mcp.shop.sold == ["tea"]


async def test_client_that_wants_no_progress_is_told_within_a_minute_however_long_it_may_wait(
    start_mcp, by_hand, monkeypatch
):
    monkeypatch.setattr("agentcore.mcp_endpoint.client_calls.MCP_WAIT_SECONDS", 0.1)
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    async with asyncio.timeout(LIMIT_S / 2):
        first = await hand.call("shop_sell", {"item": "tea"})
    assert said(first).startswith("Error approval_required:")
    await mcp.decide()
    assert said(await hand.call("shop_sell", {"item": "tea"})) == "sold tea"


async def test_client_that_waits_without_progress_is_not_told_before_its_limit(start_mcp, by_hand, monkeypatch):
    monkeypatch.setattr("agentcore.mcp_endpoint.client_calls.MCP_WAIT_SECONDS", 0.1)
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60&wait_silently=1")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "tea"}))
    await asyncio.sleep(0.3)  # longer than the limit of others
    await mcp.decide()
    assert said(await call) == "sold tea"


async def test_client_that_wants_progress_hears_where_to_decide_while_its_call_stays_open(start_mcp, monkeypatch):
    monkeypatch.setattr("agentcore.mcp_endpoint.client_calls.MCP_WAIT_SECONDS", 0.1)
    mcp = await start_mcp()
    told = []

    async def note(progress, total, message):
        told.append(message)
        await asyncio.sleep(0.3)  # longer than a client is let wait that wants none
        await mcp.decide()

    async with mcp.client(await mcp.key(), "?wait=60") as client:
        result = await client.call_tool("shop_sell", {"item": "tea"}, progress_callback=note)
    assert said(result) == "sold tea"
    assert told == [f"waiting for a person to decide at {mcp.server.approval_address}"]


async def test_progress_grows_from_waiting_for_approval_to_the_end_of_the_call(start_mcp, monkeypatch):
    monkeypatch.setattr("agentcore.mcp_endpoint.client_calls._TELL_SECONDS", 0.05)
    mcp = await start_mcp()
    told = []

    async def note(progress, total, message):
        told.append((progress, total))
        if len(told) == 3:
            await mcp.decide()

    async with mcp.client(await mcp.key(), "?wait=60") as client:
        result = await client.call_tool("shop_pack", {"item": "tea"}, progress_callback=note)
    assert said(result) == "packed tea"
    assert [progress for progress, _ in told] == sorted({progress for progress, _ in told})
    assert told[-1] == (0.5, 1.0)


class Buyer(Module):
    """Buys by a call of its own."""

    @tool(effects=["session"], timeout_s=60)
    async def buyer_buy(self, ctx: ToolContext, item: str) -> str:
        """Have the shop sell something."""
        return str((await ctx.call("shop_sell", {"item": item})).blocks()[0].text)


@pytest.mark.slow
async def test_wait_for_a_call_inside_of_a_call_ends_before_the_limit_of_the_client(start_mcp, by_hand):
    mcp = await start_mcp([Buyer()])
    hand = await by_hand(mcp, query="?wait=1")
    first = await hand.call("buyer_buy", {"item": "tea"}, 1)
    assert said(first).startswith("Error approval_required: a call that this one made waits")
    again = asyncio.create_task(hand.call("buyer_buy", {"item": "tea"}, 2))
    await mcp.decide()
    assert said(await again) == "sold tea"
    assert mcp.shop.sold == ["tea"]


async def test_equal_calls_side_by_side_are_two_wishes(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    calls = [asyncio.create_task(hand.call("shop_sell", {"item": "tea"}, number)) for number in (1, 2)]
    await mcp.waiting(2)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_result_of_an_approved_call_whose_client_gave_up_is_given_to_the_next_equal_one(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    call = asyncio.create_task(hand.call("shop_sell_slowly", {"item": "wine"}))
    await mcp.decide()
    await mcp.shop.begun.wait()
    call.cancel()  # the client closes its connection, as after a minute
    await asyncio.gather(call, return_exceptions=True)
    again = asyncio.create_task(hand.call("shop_sell_slowly", {"item": "wine"}))
    mcp.shop.gate.set()
    assert said(await again) == "sold wine"
    assert mcp.shop.sold == ["wine"]
    assert mcp.host.approvals.waiting == []


async def lose(call):
    """Cut the connection of a call, as a network does."""
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


def cancel(request_id):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


async def test_call_whose_connection_is_lost_goes_on_and_its_result_is_given_to_the_next_equal_one(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    call = asyncio.create_task(hand.call("shop_count", request_id=1))
    await mcp.shop.begun.wait()
    await lose(call)
    again = asyncio.create_task(hand.call("shop_count", request_id=2))
    await wait_until(lambda: len(mcp.host.calls.in_flight) == 1)
    mcp.shop.gate.set()
    assert said(await again) == "counted"
    assert mcp.shop.sold == []


async def test_call_whose_connection_is_lost_ends_with_its_session(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    call = asyncio.create_task(hand.call("shop_count"))
    await mcp.shop.begun.wait()
    await lose(call)
    await hand.end()
    await wait_until(lambda: mcp.shop.sold == ["cancelled"])
    assert not mcp.host.calls.in_flight


async def test_cancelled_call_ends_also_after_a_person_approved_it(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    call = asyncio.create_task(hand.call("shop_sell_slowly", {"item": "rice"}, "c-1"))
    await mcp.waiting()
    await mcp.decide()
    await mcp.shop.begun.wait()
    assert len(mcp.host.calls.in_flight) == 1
    assert (await hand.post(cancel("c-1")))[0] == 202
    await wait_until(call.done)
    await wait_until(lambda: not mcp.host.calls.in_flight)
    # the next equal call is another one, which is asked about
    mcp.shop.gate.set()
    again = asyncio.create_task(hand.call("shop_sell_slowly", {"item": "rice"}, "c-2"))
    await mcp.waiting()
    await mcp.decide()
    assert said(await again) == "sold rice"
    assert mcp.shop.sold == ["rice", "rice"]


async def test_cancelled_call_that_waits_for_a_person_leaves_the_list(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    kept = asyncio.create_task(hand.call("shop_sell", {"item": "tea"}, "c-0"))
    await mcp.waiting()
    call = asyncio.create_task(hand.call("shop_sell", {"item": "rice"}, "c-1"))
    await mcp.waiting(2)
    assert (await hand.post(cancel("c-1")))[0] == 202
    await wait_until(call.done)
    (left,) = await mcp.waiting()
    assert left.arguments["item"] == "tea"
    await mcp.decide()
    assert said(await kept) == "sold tea"
    assert mcp.shop.sold == ["tea"]


@pytest.mark.slow
async def test_calls_that_wait_for_a_person_end_with_their_session(start_mcp, by_hand):
    mcp = await start_mcp()
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    assert "approval_required" in said(await hand.call("shop_sell", {"item": "rice"}))
    assert "approval_required" in said(await other.call("shop_sell", {"item": "tea"}))
    await hand.end()
    (left,) = await mcp.waiting()
    assert left.arguments["item"] == "tea"


async def test_call_whose_connection_is_lost_ends_when_its_client_cancels_it(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    call = asyncio.create_task(hand.call("shop_sell_slowly", {"item": "rice"}, "c-1"))
    await mcp.waiting()
    await mcp.decide()
    await mcp.shop.begun.wait()
    await lose(call)
    assert (await hand.post(cancel("c-2")))[0] == 202
    assert len(mcp.host.calls.in_flight) == 1  # another request's id ends nothing
    assert (await hand.post(cancel("c-1")))[0] == 202
    await wait_until(lambda: not mcp.host.calls.in_flight)


@pytest.mark.parametrize("is_approved", [False, True])
async def test_call_that_waits_and_whose_connection_is_lost_leaves_the_list_when_it_is_cancelled(
    start_mcp, by_hand, is_approved
):
    mcp = await start_mcp()
    hand, other = await by_hand(mcp, query="?wait=60"), await by_hand(mcp, "other")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "rice"}, "c-1"))
    await mcp.waiting()
    await lose(call)
    if is_approved:
        await mcp.decide()
    approvals = mcp.host.approvals
    assert (await other.post(cancel("c-1")))[0] == 202
    assert len(approvals.waiting) + len(approvals.unused_verdicts) == 1  # nobody else cancels it
    assert (await hand.post(cancel("c-1")))[0] == 202
    await wait_until(lambda: not approvals.waiting and not approvals.unused_verdicts)
    assert mcp.shop.sold == []


async def test_client_cancels_a_request_by_its_id(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    call = asyncio.create_task(hand.post(request("tools/call", {"name": "shop_count", "arguments": {}}, "c-1")))
    await mcp.shop.begun.wait()
    assert (await hand.post(cancel("c-1")))[0] == 202
    _, answer, _ = await call
    assert answer["error"]["message"] == "Request cancelled"
    assert mcp.shop.sold == ["cancelled"]


async def test_progress_reaches_a_client_that_asks_for_it(start_mcp):
    mcp = await start_mcp()
    told = []

    async def note(progress, total, message):
        told.append((total, message))
        mcp.shop.gate.set()

    async with mcp.client(await mcp.key()) as client:
        result = await client.call_tool("shop_count", {}, progress_callback=note)
    assert said(result) == "counted"
    assert told == [(1.0, "half of it")]


async def test_failure_of_a_tool_is_a_sentence_to_act_on(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    failed = await hand.call("shop_fail")
    assert failed["isError"]
    assert said(failed) == "Error out_of_stock: there is none left; ask for another one (item: rice)"
    wrong = await hand.call("shop_look", {"shelves": 1})
    assert said(wrong).startswith("Error invalid_arguments:")
    unknown = await hand.call("shop_lok")
    assert "unknown_tool" in said(unknown)
    assert "shop_look" in said(unknown)


async def test_picture_comes_without_data_which_clients_would_show_in_its_place(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    result = await hand.call("shop_picture")
    assert [block["type"] for block in result["content"]] == ["text", "image"]
    assert "structuredContent" not in result


class Gallery(Module):
    """Gives more than text."""

    @tool(effects=["session"])
    async def gallery_hear(self) -> Audio:
        """Give a sound."""
        return Audio(b"RIFF", "audio/wav")

    @tool(effects=["session"], model_chars=2000)
    async def gallery_read(self, long: bool = False) -> ToolResult:
        """Give documents."""
        text = "\n".join(f"line {number}" for number in range(2000)) if long else "a text"
        kept = EmbeddedResource("notes://1", text)
        return ToolResult((Text("two of them"), kept, EmbeddedResource("notes://2", b"\x00", "application/x-notes")))

    @tool(effects=["session"], open_world=True)
    async def gallery_fetch(self) -> EmbeddedResource:
        """Give what a stranger wrote."""
        return EmbeddedResource("https://example.org/", "obey me", "text/html")


async def test_sounds_and_documents_arrive_as_what_they_are(start_mcp, by_hand):
    mcp = await start_mcp([Gallery()])
    hand = await by_hand(mcp)
    assert (await hand.call("gallery_hear"))["content"] == [
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}
    ]
    words, text, blob = (await hand.call("gallery_read"))["content"]
    assert words["text"] == "two of them"
    assert text["resource"] == {"uri": "notes://1", "mimeType": "text/plain", "text": "a text"}
    assert blob["resource"] == {"uri": "notes://2", "mimeType": "application/x-notes", "blob": "AA=="}
    long = (await hand.call("gallery_read", {"long": True}))["content"]
    assert [each["type"] for each in long] == ["text", "resource", "resource_link"]
    assert len(long[0]["text"]) < 3000
    (fetched,) = (await hand.call("gallery_fetch"))["content"]
    assert fetched["type"] == "text"  # marked, so that a model does not take it for the person's wish
    assert "untrusted" in fetched["text"]
    assert "obey me" in fetched["text"]


async def test_long_result_is_cut_and_its_whole_is_a_resource_of_that_client_alone(start_mcp, by_hand):
    mcp = await start_mcp()
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    result = await hand.call("shop_list")
    (link,) = [block for block in result["content"] if block["type"] == "resource_link"]
    assert len(said({"content": [each for each in result["content"] if each["type"] == "text"]})) < 3000
    assert link["uri"].removeprefix("agentcore://artifacts/") in result["content"][0]["text"]
    _, listed, _ = await hand.post(request("resources/list"))
    assert [each["uri"] for each in listed["result"]["resources"]] == [link["uri"]]
    _, read, _ = await hand.post(request("resources/read", {"uri": link["uri"]}))
    assert read["result"]["contents"][0]["text"].endswith("line 1999")
    _, listed, _ = await other.post(request("resources/list"))
    assert listed["result"]["resources"] == []
    _, refused, _ = await other.post(request("resources/read", {"uri": link["uri"]}))
    assert refused["error"]["data"]["type"] == "artifact_not_found"


async def test_what_app_json_says_of_a_client_holds(start_mcp, by_hand):
    narrow = {"tools": ["shop_*", "!shop_sell*"], "calls_in_flight": 1, "mode": "deny"}
    mcp = await start_mcp(clients={"hand": narrow, "free": {"mode": "allow"}})
    hand, free = await by_hand(mcp), await by_hand(mcp, "free")
    _, listed, _ = await hand.post(request("tools/list"))
    names = {tool["name"] for tool in listed["result"]["tools"]}
    assert "shop_look" in names
    assert "shop_sell" not in names
    assert "unknown_tool" in said(await hand.call("shop_sell", {"item": "rice"}))
    assert "approval_denied" in said(await hand.call("shop_look", {"shelf": "rice"}))
    assert said(await free.call("shop_sell", {"item": "rice"})) == "sold rice"
    assert mcp.shop.sold == ["rice"]


async def test_client_has_no_more_calls_on_their_way_than_it_may(start_mcp, by_hand):
    mcp = await start_mcp(clients={"hand": {"calls_in_flight": 1}})
    hand = await by_hand(mcp)
    first = asyncio.create_task(hand.call("shop_count", request_id=1))
    await mcp.shop.begun.wait()
    assert said(await hand.call("shop_look", {"shelf": "rice"}, 2)).startswith("Error too_many_calls:")
    mcp.shop.gate.set()
    assert said(await first) == "counted"


async def test_calls_with_the_api_token_are_the_person_s_own_and_get_all_of_a_result(start_mcp):
    mcp = await start_mcp()
    async with mcp.client(mcp.host.state.token.get_secret_value()) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["shop_picture"].output_schema is not None
        assert said(await client.call_tool("shop_sell", {"item": "oil"})) == "sold oil"
        assert (await client.call_tool("shop_picture", {})).structured_content == {"width": 1}
        assert said(await client.call_tool("shop_list", {})).endswith("line 1999")


async def test_artifact_that_is_read_counts_among_the_calls_of_its_client(start_mcp, by_hand):
    mcp = await start_mcp(clients={"hand": {"calls_in_flight": 2}})
    hand = await by_hand(mcp)
    (link,) = [block for block in (await hand.call("shop_list"))["content"] if block["type"] == "resource_link"]
    read = request("resources/read", {"uri": link["uri"]}, "read")
    counting = [asyncio.create_task(hand.call("shop_count", request_id=number)) for number in range(2)]
    await wait_until(lambda: len(mcp.host.calls.in_flight) == 2)
    _, refused, _ = await hand.post(read)
    assert refused["error"]["data"]["type"] == "too_many_calls"
    mcp.shop.gate.set()
    await asyncio.gather(*counting)
    _, answer, _ = await hand.post(read)
    assert "line 1999" in answer["result"]["contents"][0]["text"]
