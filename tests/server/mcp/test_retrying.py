"""A client that gives up after its own limit and sends its calls again, many at one time."""

import asyncio

from tests.server.approving import approver
from tests.server.mcp.conftest import LIMIT_S

ITEMS = [f"item {number}" for number in range(8)]


def _send(hand):
    """Send all calls at one time."""
    return [asyncio.create_task(hand.call("shop_sell_slowly", {"item": item}, item)) for item in ITEMS]


async def _give_up(calls):
    """Close the connections of calls, as a client does after a minute."""
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


async def _approve(mcp, waiting):
    person = await approver(mcp.server)
    for call in waiting:
        decision = {"approved": True, "digest": call.digest}
        assert (await person.ask("POST", f"/api/approvals/{call.call_id}/decision", decision))[0] == 200


async def test_calls_side_by_side_that_are_sent_again_and_again_are_asked_about_and_run_once(start_mcp, by_hand):
    mcp = await start_mcp()
    hand = await by_hand(mcp, query="?wait=60")
    calls = _send(hand)
    asked = await mcp.waiting(len(ITEMS))
    await _give_up(calls)
    await _approve(mcp, asked[:4])  # while nobody waits for them: they run when they are sent again
    assert mcp.shop.sold == []
    calls = _send(hand)
    await _approve(mcp, asked[4:])  # those are still the ones that wait: nobody was asked twice
    async with asyncio.timeout(LIMIT_S):
        while len(mcp.shop.sold) < len(ITEMS):
            await asyncio.sleep(0.01)
    await _give_up(calls)  # in the middle of what runs
    calls = _send(hand)
    mcp.shop.gate.set()
    results = await asyncio.gather(*calls)
    assert [result["content"][0]["text"] for result in results] == [f"sold {item}" for item in ITEMS]
    assert sorted(mcp.shop.sold) == ITEMS
    assert mcp.host.approvals.waiting == []
