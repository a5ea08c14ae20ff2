"""Who is connected over MCP, as the page is told it."""

import asyncio

import pytest

from agentcore.limits import APPROVALS_WAITING_PER_CALLER
from tests.server.approving import approver, page
from tests.server.mcp_transports.conftest import LIMIT_S

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


async def test_client_is_told_as_connected_while_it_is_there_and_as_former_afterwards(start_mcp, by_hand):
    mcp = await start_mcp()
    heard = []
    mcp.host.events.subscribe("clients.changed", lambda event: heard.append(event.data))
    hand = await by_hand(mcp)
    there = (await clients_of(mcp))[0]["hand"]
    assert (there["connected"], [each["connected"] for each in there["connections"]]) == (True, [True])
    await hand.end()
    gone = (await clients_of(mcp))[0]["hand"]
    assert gone["connected"] is False
    (former,) = gone["connections"]
    assert (former["program"], former["connected"]) == ("hand", False)
    assert heard == [{"name": "hand", "connected": True}, {"name": "hand", "connected": False}]


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


async def revoke(mcp, name="hand"):
    assert await (await page(mcp.server)).ask("DELETE", f"/api/approvers/{name}") == (200, {"ok": True})


async def shown_waiting(mcp):
    """The calls that the approval view shows, by the client that makes them."""
    found = (await (await approver(mcp.server)).ask("GET", "/api/approvals"))[1]["calls"]
    return sorted(each["askedBy"]["id"] for each in found)


@pytest.mark.slow
async def test_client_that_fills_its_places_keeps_nobody_else_from_asking(start_mcp, by_hand):
    """Its calls outlive its requests, so that it needs no connection that stays."""
    mcp = await start_mcp(clients={"greedy": {"calls_in_flight": 256}})
    greedy, other = await by_hand(mcp, "greedy", "?wait=1"), await by_hand(mcp, "other", "?wait=1")
    items = [{"item": f"rice {number}"} for number in range(APPROVALS_WAITING_PER_CALLER + 8)]
    answers = await asyncio.gather(*(greedy.call("shop_sell", item, number) for number, item in enumerate(items)))
    refused = [answer for answer in answers if "too_many_waiting" in str(answer)]
    assert len(refused) == 8
    assert "approval_required" in str(await other.call("shop_sell", {"item": "tea"}))
    assert await shown_waiting(mcp) == ["greedy"] * APPROVALS_WAITING_PER_CALLER + ["other"]


@pytest.mark.slow
async def test_revoked_client_leaves_no_call_that_waits(start_mcp, by_hand):
    mcp = await start_mcp()
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    await hand.call("shop_sell", {"item": "rice"})
    await other.call("shop_sell", {"item": "tea"})
    assert await shown_waiting(mcp) == ["hand", "other"]
    await revoke(mcp)
    assert await shown_waiting(mcp) == ["other"]
    # nor after a restart
    await mcp.stop()
    assert await shown_waiting(await start_mcp()) == ["other"]


@pytest.mark.slow
async def test_approved_call_of_a_revoked_client_does_not_begin(start_mcp, by_hand):
    """Whoever pairs a client of that name later finds nothing that was allowed to this one."""
    mcp = await start_mcp()
    hand = await by_hand(mcp)
    await hand.call("shop_sell", {"item": "rice"})
    await mcp.decide()
    assert len(mcp.host.approvals.unused_verdicts) == 1
    await revoke(mcp)
    assert mcp.host.approvals.unused_verdicts == []
    again = await by_hand(mcp)
    assert "approval_required" in str(await again.call("shop_sell", {"item": "rice"}))
    assert mcp.shop.sold == []


async def test_revoking_a_client_ends_what_it_runs(start_mcp, by_hand):
    mcp = await start_mcp()
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    for one in (hand, other):
        running = asyncio.create_task(one.call("shop_count"))
        await mcp.shop.begun.wait()
        mcp.shop.begun.clear()
        running.add_done_callback(lambda task: task.exception())
    await revoke(mcp)
    async with asyncio.timeout(LIMIT_S):
        while mcp.shop.sold != ["cancelled"]:
            await asyncio.sleep(0.01)
    assert [call.request.principal.id for call in mcp.host.calls.in_flight.values()] == ["other"]
    mcp.shop.gate.set()
    await running


async def test_a_call_that_was_asked_about_counts_once(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=30")
    call = asyncio.create_task(hand.call("shop_sell", {"item": "rice"}))
    await mcp.decide()
    await call
    assert mcp.shop.sold == ["rice"]
    assert (await clients_of(mcp))[0]["hand"]["calls"] == 1
