"""Who is connected over MCP, as the page is told it."""

import asyncio

import pytest

from tests.server.approving import page

pytestmark = pytest.mark.spec("P1")


async def clients_of(mcp):
    status, found = await (await page(mcp.server)).ask("GET", "/api/clients")
    assert status == 200, found
    return {each["name"]: each for each in found["clients"]}, found["address"]


async def test_connected_clients_are_told_with_what_they_call_and_may(start_mcp, by_hand):
    mcp = await start_mcp(clients={"hand": {"tools": ["shop_*"], "mode": "allow", "calls_in_flight": 4}})
    hand = await by_hand(mcp)
    key = await mcp.key("idle")
    await hand.call("shop_sell", {"item": "rice"})
    slow = asyncio.create_task(hand.call("shop_count", request_id=1))
    await mcp.shop.begun.wait()
    clients, address = await clients_of(mcp)
    used, idle = clients["hand"], clients["idle"]
    assert address == mcp.url
    assert (used["kind"], used["calls"], used["running"], used["waiting"]) == ("mcp", 1, 1, 0)
    assert used["bounds"] == {"tools": ["shop_*"], "mode": "allow", "callsInFlight": 4}
    (connection,) = used["connections"]
    assert (connection["program"], connection["version"], connection["revision"]) == ("hand", "1", "2025-11-25")
    assert connection["sessionId"] == hand.session
    assert used["lastUsedAt"] >= used["createdAt"]
    assert (idle["calls"], idle["connections"], idle["bounds"]) == (0, [], None)
    assert key not in str(clients)
    mcp.shop.gate.set()
    await slow


async def test_call_that_waits_for_a_person_is_told_as_waiting(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=30")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "rice"}))
    await mcp.waiting()
    hand_now = (await clients_of(mcp))[0]["hand"]
    assert (hand_now["running"], hand_now["waiting"]) == (0, 1)
    await mcp.decide(approved=False)
    await call


async def test_calls_in_the_record_are_found_by_their_client(start_mcp, by_hand):
    mcp = await start_mcp(approvals={"mode": "allow"})
    one, other = await by_hand(mcp, "one"), await by_hand(mcp, "other")
    await one.call("shop_sell", {"item": "rice"})
    await other.call("shop_sell", {"item": "tea"})
    asker = await page(mcp.server)
    found = (await asker.ask("GET", "/api/calls?client=one&total=true&kind=call"))[1]
    assert (found["total"], [row["principal_id"] for row in found["calls"]]) == (1, ["one"])


async def test_revoked_client_is_gone_with_its_connections(start_mcp, by_hand):
    mcp = await start_mcp()
    await by_hand(mcp)
    asker = await page(mcp.server)
    assert await asker.ask("DELETE", "/api/approvers/hand") == (200, {"ok": True})
    assert (await clients_of(mcp))[0] == {}


async def test_a_call_that_was_asked_about_counts_once(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=30")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "rice"}))
    await mcp.decide()
    await call
    assert mcp.shop.sold == ["rice"]
    assert (await clients_of(mcp))[0]["hand"]["calls"] == 1
