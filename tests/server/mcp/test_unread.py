"""Answers that a client does not read: they count on it until it reads them or closes their connections."""

import asyncio
import json

import pytest

from agentcore.api import Image, Module, ToolResult, tool
from agentcore.server.http.bounds import UNREAD_ANSWER_BYTES
from tests.server.mcp.conftest import ACCEPT, LIMIT_S, REVISION, request

pytestmark = pytest.mark.spec("P1", "S7")

PICTURE_BYTES = 3_000_000


class Gallery(Module):
    """Large pictures."""

    name = "gallery"

    @tool(effects=["session"])
    async def gallery_show(self) -> ToolResult[None]:
        """Show large pictures: more than the system takes on the way to a client that does not read."""
        picture = Image(b"\x89PNG\r\n\x1a\n" + bytes(PICTURE_BYTES), "image/png")
        return ToolResult((picture,) * 4, None)


async def ask_and_leave_unread(mcp, hand, number):
    """Send a call on a connection of its own, whose answer stays unread; gives the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", mcp.server.port, limit=1024)
    body = json.dumps(request("tools/call", {"name": "gallery_show", "arguments": {}}, number)).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{mcp.server.port}\r\nAuthorization: Bearer {hand.key}\r\n"
        f"Accept: {ACCEPT}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"Mcp-Session-Id: {hand.session}\r\nMcp-Protocol-Version: {REVISION}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    return reader, writer


async def status_of(hand):
    """The status of a small request, and the type of its error."""
    status, answer, _ = await hand.post(request("ping"))
    return status, answer.get("error", {}).get("type") if status != 200 else None


async def test_client_that_reads_no_answers_is_refused_until_it_closes_them(start_mcp, by_hand):
    mcp = await start_mcp([Gallery()])
    hand, other = await by_hand(mcp), await by_hand(mcp, "other")
    left = [await ask_and_leave_unread(mcp, hand, number) for number in range(6)]
    async with asyncio.timeout(LIMIT_S):
        while (refused := await status_of(hand)) == (200, None):
            await asyncio.sleep(0.05)
    assert refused == (429, "too_many_unread")
    assert await status_of(other) == (200, None)
    for _, writer in left:
        writer.transport.abort()
    async with asyncio.timeout(LIMIT_S):
        while await status_of(hand) != (200, None):
            await asyncio.sleep(0.05)


async def test_client_that_reads_its_answers_has_as_many_as_it_likes(start_mcp, by_hand):
    mcp = await start_mcp([Gallery()])
    hand = await by_hand(mcp)
    for number in range(UNREAD_ANSWER_BYTES // PICTURE_BYTES):
        result = await hand.call("gallery_show", request_id=number)
        assert len(result["content"][0]["data"]) > PICTURE_BYTES
