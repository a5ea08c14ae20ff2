"""Answers that a client does not read: further ones wait until it reads them or closes their connections."""

import asyncio
import json
from contextlib import suppress

import pytest
import structlog

from agentcore.api import Image, Module, ToolContext, ToolResult, tool
from agentcore.server.http import unread_answers
from agentcore.server.http.server_limits import UNREAD_ANSWER_BYTES, UNREAD_ANSWER_BYTES_OF_TOKEN
from agentcore.server.mcp_transports import pipe
from tests.server.mcp_transports.conftest import ACCEPT, REVISION, request
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("P1", "S7")

PICTURE_BYTES = 3_000_000
ANSWER_BYTES = 4 * PICTURE_BYTES * 4 // 3
AT_ONCE = 12
LARGEST = 1.2 * ANSWER_BYTES
"""With what is around the pictures."""


class Gallery(Module):
    """Large pictures."""

    name = "gallery"

    def __init__(self):
        super().__init__()
        self.begun, self.gate = 0, asyncio.Event()

    @tool(effects=["session"], timeout_s=60)
    async def gallery_show(self, ctx: ToolContext) -> ToolResult[None]:
        """Show large pictures: more than the system takes on the way to a client that does not read."""
        self.begun += 1
        ctx.progress(0.5, "half of them")
        await self.gate.wait()
        picture = Image(b"\x89PNG\r\n\x1a\n" + bytes(PICTURE_BYTES), "image/png")
        return ToolResult((picture,) * 4, None)


class Unread:
    """Sends requests on connections of their own, and reads their answers later or never."""

    def __init__(self, mcp, gallery):
        self.mcp, self.gallery, self.connections = mcp, gallery, []

    async def post(self, path, key, message, accept=ACCEPT, **headers):
        """Send one request."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.mcp.server.port, limit=1024)
        body = json.dumps(message).encode()
        further = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.mcp.server.port}\r\nAuthorization: Bearer {key}\r\n"
            f"Accept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            f"Connection: close\r\n{further}\r\n"
        )
        writer.write(head.encode() + body)
        self.connections.append((reader, writer))

    async def call_over_mcp(self, hand, *, is_stream=False):
        """Send calls of an MCP client at one time."""
        session = {"Mcp_Session_Id": hand.session, "Mcp_Protocol_Version": REVISION}
        params = {"name": "gallery_show", "arguments": {}} | ({"_meta": {"progressToken": "p"}} if is_stream else {})
        for number in range(AT_ONCE):
            await self.post("/mcp", hand.key, request("tools/call", params, number), **session)

    async def call_with_token(self, accept):
        """Send calls of a program at one time."""
        token = self.mcp.host.state.token.get_secret_value()
        for _ in range(AT_ONCE):
            await self.post("/api/tools/gallery_show/call", token, {"arguments": {}}, accept)

    @property
    def size_bytes(self):
        """What waits in the memory of the server."""
        connections = self.mcp.server.server.app.dispatcher.connections.connections
        return sum(each.transport.get_write_buffer_size() for each in connections if each.transport is not None)

    @property
    def open_connections(self):
        """Connections of these requests that the server has not closed."""
        peers = {writer.get_extra_info("sockname") for _, writer in self.connections}
        connections = self.mcp.server.server.app.dispatcher.connections.connections
        transports = [each.transport for each in connections if each.transport is not None]
        return len([each for each in transports if each.get_extra_info("peername") in peers])

    async def settled_bytes(self):
        """The same, once all calls that were sent have run and the answers were written that do not wait."""
        await wait_until(lambda: self.gallery.begun == AT_ONCE)
        self.gallery.gate.set()
        await wait_until(lambda: not self.mcp.host.calls.in_flight)
        await wait_until(lambda: self.size_bytes > ANSWER_BYTES / 2)
        async with self.mcp.server.get("/api/health") as answer:
            assert answer.status == 200
        return self.size_bytes

    async def read_all(self):
        """The sizes of the answers, read at one time."""
        return await asyncio.gather(*(self._read(reader) for reader, _ in self.connections))

    async def _read(self, reader):
        size = 0
        with suppress(ConnectionError):
            while data := await reader.read(1024 * 1024):
                size += len(data)
        return size

    def close(self):
        """Close all connections."""
        for _, writer in self.connections:
            writer.transport.abort()


@pytest.fixture
async def unread(start_mcp):
    """A server with large pictures, and requests whose answers stay unread."""
    gallery = Gallery()
    unread = Unread(await start_mcp([gallery]), gallery)
    yield unread
    gallery.gate.set()
    unread.close()


@pytest.fixture
def logged():
    """What is logged."""
    with structlog.testing.capture_logs() as entries:
        yield entries


async def status_of(hand):
    """The status of a small request, and the type of its error."""
    status, answer, _ = await hand.post(request("ping"))
    return status, answer.get("error", {}).get("type") if status != 200 else None


@pytest.mark.slow
async def test_client_that_reads_no_answers_is_refused_until_it_closes_them(unread, by_hand):
    hand, other = await by_hand(unread.mcp), await by_hand(unread.mcp, "other")
    await unread.call_over_mcp(hand)
    await unread.settled_bytes()
    assert await status_of(hand) == (429, "too_many_unread")
    assert await status_of(other) == (200, None)
    unread.close()
    assert await status_of(hand) == (200, None)
    await wait_until(lambda: unread.size_bytes == 0)


@pytest.mark.more
@pytest.mark.parametrize("is_stream", [False, True], ids=["one answer", "stream of events"])
async def test_answers_to_calls_at_one_time_wait_until_their_client_has_read_those_before(unread, by_hand, is_stream):
    hand = await by_hand(unread.mcp)
    await unread.call_over_mcp(hand, is_stream=is_stream)
    assert await unread.settled_bytes() < UNREAD_ANSWER_BYTES + LARGEST
    assert min(await unread.read_all()) > ANSWER_BYTES  # each of them comes, once there is room
    assert await status_of(hand) == (200, None)


@pytest.mark.more
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_answers_to_calls_with_the_token_wait_beyond_a_larger_bound(unread, accept):
    await unread.call_with_token(accept)
    assert UNREAD_ANSWER_BYTES + LARGEST < await unread.settled_bytes() < UNREAD_ANSWER_BYTES_OF_TOKEN + LARGEST
    assert min(await unread.read_all()) > ANSWER_BYTES


@pytest.mark.more
async def test_answers_that_wait_end_when_the_key_of_their_client_is_taken_back(unread, by_hand):
    hand = await by_hand(unread.mcp)
    await unread.call_over_mcp(hand)
    await unread.settled_bytes()
    async with unread.mcp.server.delete("/api/approvers/hand") as answer:
        assert answer.status < 300, await answer.text()
    assert len([size for size in await unread.read_all() if size > ANSWER_BYTES]) < AT_ONCE / 2


@pytest.mark.more
async def test_answers_that_wait_are_dropped_once_their_client_reads_nothing_and_not_while_it_reads(
    unread, by_hand, monkeypatch
):
    monkeypatch.setattr(unread_answers, "UNREAD_STALLED_SECONDS", 1.0)
    hand = await by_hand(unread.mcp)
    await unread.call_over_mcp(hand)
    await unread.settled_bytes()
    clock, slow_bytes = asyncio.get_running_loop().time, 300_000
    end = clock() + 2 * unread_answers.UNREAD_STALLED_SECONDS
    reading = [asyncio.create_task(reader.read(slow_bytes)) for reader, _ in unread.connections]
    while clock() < end:
        await asyncio.sleep(0.05)
        for number, task in enumerate(reading):
            if task.done():
                reading[number] = asyncio.create_task(unread.connections[number][0].read(slow_bytes))
    assert unread.open_connections == AT_ONCE
    await wait_until(lambda: unread.open_connections < AT_ONCE / 2)
    await asyncio.gather(*reading, return_exceptions=True)
    sizes = await unread.read_all()
    assert 1 <= len([size for size in sizes if size]) < AT_ONCE / 2  # what was written before still comes


@pytest.mark.more
async def test_answers_over_a_pipe_wait_and_are_dropped_once_their_client_reads_nothing(unread, monkeypatch, logged):
    monkeypatch.setattr(pipe, "UNREAD_STALLED_SECONDS", 0.5)
    pipes = unread.mcp.server.server.app.dispatcher.pipes
    await pipes.listen()
    reader, writer = await asyncio.open_unix_connection(pipes.path, limit=64 * 1024 * 1024)
    unread.connections.append((reader, writer))
    writer.write(json.dumps({"key": await unread.mcp.key("piped")}).encode() + b"\n")
    about = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "piped", "version": "1"}}
    writer.write(json.dumps(request("initialize", about, "first")).encode() + b"\n")
    assert "session" in json.loads(await reader.readline())
    assert json.loads(await reader.readline())["id"] == "first"
    reader._transport.pause_reading()
    for number in range(AT_ONCE):
        call = request("tools/call", {"name": "gallery_show", "arguments": {}}, number)
        writer.write(json.dumps(call).encode() + b"\n")
    await wait_until(lambda: unread.gallery.begun == AT_ONCE)
    unread.gallery.gate.set()
    await wait_until(lambda: [each for each in logged if each["event"] == "mcp_answers_dropped"])
    reader._transport.resume_reading()
    answers = [json.loads(await reader.readline()) for _ in range(AT_ONCE)]
    assert sorted(answer["id"] for answer in answers) == list(range(AT_ONCE))
    whole = [answer for answer in answers if "result" in answer]
    assert 1 <= len(whole) <= 3
    assert all("dropped" in answer["error"]["message"] for answer in answers if "error" in answer)
    writer.write(json.dumps(request("ping", None, "last")).encode() + b"\n")
    assert json.loads(await reader.readline()) == {"jsonrpc": "2.0", "id": "last", "result": {}}


@pytest.mark.more
async def test_client_that_reads_its_answers_has_as_many_as_it_likes(unread, by_hand):
    unread.gallery.gate.set()
    hand = await by_hand(unread.mcp)
    for number in range(UNREAD_ANSWER_BYTES // PICTURE_BYTES):
        result = await hand.call("gallery_show", request_id=number)
        assert len(result["content"][0]["data"]) > PICTURE_BYTES
