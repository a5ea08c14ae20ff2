"""Who comes in at `/mcp`, and what junk does there: nothing."""

import asyncio

import aiohttp
import pytest

from agentcore.api import Module, ToolDefinition
from agentcore.server.mcp_transports import client_sessions
from tests.server.approving import approver, page
from tests.server.mcp_transports.conftest import ACCEPT, LIMIT_S, ByHand, request
from tests.server.mcp_transports.test_calls import said


async def test_nobody_comes_in_without_a_key_and_a_revoked_one_opens_nothing(start_mcp, by_hand):
    mcp = await start_mcp()
    for key in ("", "acap_wrong"):
        status, answer, headers = await ByHand(mcp.url, key).post(request("initialize"))
        assert (status, answer["error"]["type"]) == (401, "unauthorized")
        assert "resource_metadata" not in headers["WWW-Authenticate"]  # there is no authorization server to ask
    hand = await by_hand(mcp)
    listening = asyncio.create_task(listen(hand))
    person = await approver(mcp.server)
    assert (await person.ask("DELETE", "/api/approvers/hand"))[0] == 200
    async with asyncio.timeout(LIMIT_S):
        await listening  # what was open ends with the key
    assert (await hand.post(request("ping")))[0] == 401


async def listen(hand):
    shown = {"Accept": ACCEPT, "Authorization": f"Bearer {hand.key}", "Mcp-Session-Id": hand.session}
    async with aiohttp.ClientSession() as client, client.get(hand.url, headers=shown) as answer:
        return answer.status, (await answer.read()).decode()


async def test_only_a_person_connects_clients_and_no_client_another(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    path = str(mcp.server.make_url("/api/mcp/clients"))
    shown = {"Authorization": f"Bearer {hand.key}"}
    async with (
        aiohttp.ClientSession(headers=shown) as client,
        client.post(path, json={"name": "friend"}) as answer,
    ):
        assert (answer.status, (await answer.json())["error"]["type"]) == (403, "forbidden")
    window = await page(mcp.server)
    assert (await window.ask("POST", "/api/mcp/clients", {"name": "friend"}))[0] == 403
    assert (await window.ask("POST", "/mcp", request("initialize")))[0] == 403
    for name, error in (("hand", "approver_exists"), ("a b", "invalid_body")):
        async with mcp.server.post("/api/mcp/clients", json={"name": name}) as answer:
            assert (await answer.json())["error"]["type"] == error


CLOSED = [
    ("GET", "/api/approvals"),
    ("GET", "/api/calls"),
    ("GET", "/api/tools"),
    ("GET", "/api/events"),
    ("POST", "/api/tools/shop_sell/call"),
    ("POST", "/api/sessions"),
    ("POST", "/api/stop"),
    ("GET", "/no/such/thing"),
]
"""What the server does for others."""


async def test_key_of_a_client_opens_nothing_else(start_mcp):
    mcp = await start_mcp(clients={"robot": {"mode": "allow"}})
    shown = {"Authorization": f"Bearer {await mcp.key()}"}
    async with aiohttp.ClientSession(headers=shown) as client:
        for method, path in CLOSED:
            body = {"arguments": {"item": "rice"}, "session_id": "s1"} if method == "POST" else None
            async with client.request(method, str(mcp.server.make_url(path)), json=body) as answer:
                assert (answer.status, (await answer.json())["error"]["type"]) == (403, "forbidden"), path
    assert mcp.shop.sold == []


async def test_client_that_begins_ever_more_sessions_loses_the_oldest(start_mcp, by_hand, monkeypatch):
    monkeypatch.setattr(client_sessions, "SESSIONS", 3)
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    first = hand.session
    for _ in range(3):
        hand.session = ""
        await hand.connect()
    assert (await hand.post(request("ping")))[0] == 200
    hand.session = first
    async with asyncio.timeout(LIMIT_S):
        while (await hand.post(request("ping")))[0] != 404:
            await asyncio.sleep(0.01)


async def test_session_of_another_client_is_as_if_it_was_not_there(start_mcp, by_hand):
    mcp = await start_mcp()
    hand, thief = await by_hand(mcp), await by_hand(mcp, "thief")
    thief.session = hand.session
    status, answer, _ = await thief.post(request("tools/list"))
    assert (status, answer["error"]["message"]) == (
        404,
        "this session has ended; send `initialize` to begin another",
    )


BAD = {
    "no JSON": (b"{", {}, 400, "the body is not JSON"),
    "no message": (b'{"hello": 1}', {}, 400, "no JSON-RPC message"),
    "several messages": (b"[]", {}, 400, "send one at a time"),
    "another type": (b"{}", {"Content_Type": "text/plain"}, 415, "must be application/json"),
    "no stream": (b"{}", {"Accept": "application/json"}, 406, "must accept both"),
    "unknown revision": (b"{}", {"Mcp_Protocol_Version": "1999-01-01"}, 400, ""),
}


async def test_junk_is_refused_with_what_is_wrong_and_the_session_goes_on(start_mcp, by_hand):
    hand = await by_hand(await start_mcp())
    for name, (body, headers, status, message) in BAD.items():
        got, answer, _ = await hand.post(body, **headers)
        assert got == status, name
        assert message in str(answer), name
        assert said(await hand.call("shop_look", {"shelf": "rice"}))


async def test_unknown_methods_and_parameters_are_errors_of_json_rpc(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    assert (await hand.post(request("tools/burn")))[1]["error"]["code"] == -32601
    assert (await hand.post(request("tools/call", {"arguments": {}})))[1]["error"]["code"] == -32602
    assert (await hand.post(request("tools/list", {"cursor": "x"})))[1]["error"]["data"]["type"] == "invalid_arguments"
    hand.session = ""
    assert (await hand.post(request("tools/list")))[0] == 400


async def test_id_that_is_in_use_is_refused(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    first = asyncio.create_task(hand.call("shop_count", request_id=5))
    await mcp.shop.begun.wait()
    status, answer, _ = await hand.post(request("tools/list", request_id=5))
    assert (status, "being answered already" in answer["error"]["message"]) == (400, True)
    mcp.shop.gate.set()
    assert said(await first) == "counted"


async def test_body_that_is_too_large_is_not_read(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    status, answer, _ = await hand.post(b" " * (5 * 1024 * 1024))
    assert (status, answer["error"]["type"]) == (413, "body_too_large")


async def test_session_goes_on_after_a_restart_of_the_server_and_ends_with_delete(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?tools=shop_l*&wait=1")
    await mcp.stop()
    again = await start_mcp()
    hand.url = again.url
    _, listed, _ = await hand.post(request("tools/list"))
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["shop_look", "shop_list"]
    shown = {"Authorization": f"Bearer {hand.key}", "Mcp-Session-Id": hand.session}
    async with aiohttp.ClientSession(headers=shown) as client, client.delete(hand.url) as answer:
        assert answer.status == 200
    assert (await hand.post(request("tools/list")))[0] == 404


async def test_session_that_nobody_uses_ends(start_mcp, by_hand, monkeypatch):
    monkeypatch.setattr(client_sessions, "UNUSED_SECONDS", 0.0)
    monkeypatch.setattr(client_sessions, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(client_sessions, "_SAVE_SECONDS", 0.0)
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    async with asyncio.timeout(LIMIT_S):
        while (await hand.post(request("ping")))[0] != 404:
            await asyncio.sleep(0.1)


class Many(Module):
    """A lot of tools."""

    def get_tool_definitions(self):
        """Sixty of them."""
        schema = {"type": "object", "properties": {"of": {"type": "string"}}}
        return [
            ToolDefinition(f"many_{n}", f"Tool number {n}: polish the silver.", schema, effects=frozenset(("session",)))
            for n in range(60)
        ]

    async def execute_tool_call(self, tool_name, args):
        """Say its name."""
        return f"{tool_name} {args.get('of', '')}".strip()


@pytest.mark.slow
async def test_of_many_tools_the_others_are_found_and_called_by_name(start_mcp, by_hand):
    mcp = await start_mcp([Many()])
    hand = await by_hand(mcp)
    _, listed, _ = await hand.post(request("tools/list"))
    names = [tool["name"] for tool in listed["result"]["tools"]]
    assert len(names) == 50
    assert names[-2:] == ["find_tools", "call_tool"]
    found = await hand.call("find_tools", {"query": "polish silver"})
    assert "many_" in said(found)
    assert said(await hand.call("call_tool", {"name": "many_59", "arguments": {"of": "mine"}})) == "many_59 mine"
    sold = await hand.call("call_tool", {"name": "shop_sell", "arguments": {"item": "rice"}})
    assert "approval_required" in said(sold)  # the inner call is what counts
    assert [each.definition.name for each in mcp.host.approvals.waiting] == ["shop_sell"]
    assert "invalid_arguments" in said(await hand.call("call_tool", {"name": 1}))
    assert "invalid_arguments" in said(await hand.call("find_tools", {"query": ""}))


@pytest.mark.parametrize(
    ("listed", "count", "has_all"), [("all", 68, True), (10, 10, False), (["many_1*", "shop_look"], 12, False)]
)
async def test_how_many_tools_are_listed_is_set_by_client(start_mcp, by_hand, listed, count, has_all):
    mcp = await start_mcp([Many()], clients={"hand": {"listed": listed}})
    hand = await by_hand(mcp)
    _, answer, _ = await hand.post(request("tools/list"))
    names = [tool["name"] for tool in answer["result"]["tools"]]
    assert len([name for name in names if name not in ("find_tools", "call_tool")]) == count
    assert ("find_tools" not in names) == has_all


async def test_the_tools_that_a_client_calls_most_are_listed_first_and_stay_in_order(start_mcp, by_hand):
    mcp = await start_mcp([Many()], clients={"hand": {"listed": 10}})
    hand = await by_hand(mcp)
    _, before, _ = await hand.post(request("tools/list"))
    for _ in range(2):
        await hand.call("call_tool", {"name": "many_59"})
    _, same, _ = await hand.post(request("tools/list"))
    assert same["result"] == before["result"]
    await hand.connect()  # another session
    _, after, _ = await hand.post(request("tools/list"))
    assert after["result"]["tools"][0]["name"] == "many_59"


async def test_client_that_listens_hears_that_the_tools_have_changed(start_mcp):
    mcp = await start_mcp()
    heard = asyncio.Event()

    async def note(message):
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            heard.set()

    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    shown = {"Authorization": f"Bearer {await mcp.key()}"}
    async with (
        httpx2.AsyncClient(headers=shown, timeout=LIMIT_S) as http,
        Client(streamable_http_client(mcp.url, http_client=http), mode="legacy", message_handler=note) as client,
    ):
        await client.list_tools()
        async with asyncio.timeout(LIMIT_S):
            while not heard.is_set():
                mcp.host.registry.rebuild()
                mcp.host.events.publish("tools.changed", {"version": mcp.host.registry.version})
                await asyncio.sleep(0.1)


async def test_connected_client_stands_among_the_paired_ones(start_mcp, by_hand):
    mcp = await start_mcp()
    await by_hand(mcp)
    _, listed = await (await approver(mcp.server)).ask("GET", "/api/approvers")
    assert [(each["name"], each["kind"], each["scopes"]) for each in listed["approvers"]] == [("hand", "mcp", [])]
