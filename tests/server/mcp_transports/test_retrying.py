"""A client that gives up after its own limit and sends its calls again, many at one time."""

import asyncio

from agentcore.api import Image, Module, Text, ToolResult, tool
from agentcore.limits import CLIENT_RESULTS_KEPT_BYTES
from tests.server.approving import approver
from tests.server.mcp_transports.conftest import LIMIT_S

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


class Atlas(Module):
    """Large maps."""

    name = "atlas"

    def __init__(self):
        super().__init__()
        self.runs = []
        self.gate = asyncio.Event()

    @tool(effects=["session"])
    async def atlas_map(self, place: str) -> ToolResult[None]:
        """Draw a map."""
        self.runs.append(place)
        await self.gate.wait()
        picture = Image(b"\x89PNG\r\n\x1a\n" + bytes(CLIENT_RESULTS_KEPT_BYTES // 6), "image/png")
        return ToolResult((Text(place), picture, picture), None)


async def test_results_of_a_client_that_has_left_are_kept_up_to_a_size_and_none_of_its_calls_runs_twice(
    start_mcp, by_hand
):
    atlas = Atlas()
    mcp = await start_mcp([atlas])
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    places = [f"place {number}" for number in range(5)]

    async def leave(client, place):
        call = asyncio.create_task(client.call("atlas_map", {"place": place}, place))
        async with asyncio.timeout(LIMIT_S):
            while place not in atlas.runs:
                await asyncio.sleep(0.01)
        await _give_up([call])

    await leave(other, "elsewhere")
    for place in places:
        await leave(hand, place)
    await asyncio.sleep(0.2)  # the server notices that the connections are closed
    atlas.gate.set()
    async with asyncio.timeout(LIMIT_S):
        while mcp.host.calls.in_flight:
            await asyncio.sleep(0.01)
    results = [await hand.call("atlas_map", {"place": place}, place) for place in places]
    assert [result["isError"] for result in results] == [True, True, True, False, False]
    assert "no longer stored" in results[0]["content"][0]["text"]
    assert results[4]["content"][0]["text"] == "place 4"
    assert (await other.call("atlas_map", {"place": "elsewhere"}))["content"][0]["text"] == "elsewhere"
    assert sorted(atlas.runs) == ["elsewhere", *places]
