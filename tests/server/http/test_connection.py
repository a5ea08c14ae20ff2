"""Connections as they arrive from anybody: slow, malformed, many."""

import asyncio
import json
import re

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.server.http.server_limits import TimeLimits


class Slow(Module):
    """Answers when it is told to."""

    name = "slow"

    def __init__(self) -> None:
        self.entered, self.released = asyncio.Event(), asyncio.Event()

    @tool(read_only=True)
    async def slow_wait(self, ctx: ToolContext) -> str:
        """Wait until the test says so."""
        self.entered.set()
        await self.released.wait()
        return "done"


QUICK = TimeLimits(headers=0.2, body=0.2, idle=30, linger=0.1)


async def read_all(reader) -> bytes:
    async with asyncio.timeout(30):
        return await reader.read()


def error_of(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body)["error"]["type"]


@pytest.mark.spec("S1")
@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "])
async def test_headers_that_do_not_end_are_cut_off(make_server, sent):
    server = await make_server(limits=QUICK)
    assert error_of(await server.raw(sent)) == (408, "request_timeout")
    assert server.app.dispatcher.parts.hits.counts["header_timeout"] == 1


@pytest.mark.spec("S1")
async def test_headers_that_trickle_are_cut_off(make_server):
    server = await make_server(limits=QUICK)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    answer = asyncio.ensure_future(reader.readline())
    writer.write(b"GET / HTTP/1.1\r\nX: ")
    while not answer.done():
        writer.write(b"x")
        await asyncio.wait({answer}, timeout=0.02)
    writer.close()
    assert answer.result().startswith(b"HTTP/1.1 408 ")


async def let_headers_be_late(server) -> None:
    """Act as if the time for headers, which a connection counts by now, were over."""
    connection = next(iter(server.app.dispatcher.connections.connections))
    async with asyncio.timeout(30):
        while connection._timer is None:
            await asyncio.sleep(0)
    connection._timer.cancel()
    connection._headers_late()


@pytest.mark.spec("S1")
async def test_slow_headers_of_a_second_request_are_cut_off_too(make_server):
    server = await make_server()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(server.head(start="GET /api/health HTTP/1.1").replace(b"Connection: close\r\n", b""))
    assert (await reader.readuntil(b'{"status":"ok"}')).startswith(b"HTTP/1.1 200")
    writer.write(b"GET /api/health HTTP/1.1\r\n")
    await let_headers_be_late(server)
    assert error_of(await read_all(reader)) == (408, "request_timeout")
    writer.close()


async def test_idle_connection_is_closed_in_time(make_server):
    server = await make_server(limits=TimeLimits(idle=0.1))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(server.head(start="GET /api/health HTTP/1.1").replace(b"Connection: close\r\n", b""))
    assert (await read_all(reader)).endswith(b'{"status":"ok"}')
    writer.close()


async def test_half_a_request_behind_a_running_call_does_not_spoil_its_answer(make_server):
    module = Slow()
    server = await make_server(module)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    body = b'{"arguments": {}}'
    start = "POST /api/tools/slow_wait/call HTTP/1.1"
    head = server.head("Content-Type: application/json", f"Content-Length: {len(body)}", start=start)
    writer.write(head.replace(b"Connection: close\r\n", b"") + body)
    async with asyncio.timeout(30):
        await module.entered.wait()
        hits = server.app.dispatcher.parts.hits.counts
        writer.write(b"GET /api/he")
        await let_headers_be_late(server)
        module.released.set()
        assert b" 200 " in await reader.readline()
    assert hits["header_timeout"] == 0
    writer.close()


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
    ],
)
async def test_what_is_no_http_gets_an_error_object(make_server, request_bytes):
    server = await make_server(limits=TimeLimits(linger=0.1))
    answer = await server.raw(request_bytes)
    assert error_of(answer) == (400, "invalid_request")
    assert b"Traceback" not in answer
    assert b"X-Content-Type-Options: nosniff" in answer


TOO_MANY_COOKIES = "Cookie: " + "; ".join(f"c{number}={'x' * 4000}" for number in range(4))
NAVIGATION = (
    "Accept: text/html,application/xhtml+xml,*/*;q=0.8",
    "Sec-Fetch-Dest: document",
    "Sec-Fetch-Mode: navigate",
)


@pytest.mark.spec("S1")
@pytest.mark.parametrize("path", ["/", "/chat/s1", "/api/tools"])
async def test_browser_with_too_many_cookies_gets_a_page_that_says_what_to_do(make_server, path):
    server = await make_server(limits=TimeLimits(linger=0.1))
    start = f"GET {path} HTTP/1.1"
    head, _, body = (await server.raw(server.head(*NAVIGATION, TOO_MANY_COOKIES, start=start))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert b"Content-Type: text/html; charset=utf-8" in head
    text = body.decode()
    assert ("Delete the cookies of this address" in text, "删除此地址的 Cookie" in text) == (True, True)
    # it must not need anything that is refused as well
    assert not re.search(r"<script|<link|<img|@import|url\(|src=", text)
    assert b"default-src 'none'; style-src 'sha256-" in head
    # and with fewer of them all is as ever
    fewer = server.head(*NAVIGATION, "Cookie: " + "x" * 4000, start="GET / HTTP/1.1", token=False)
    assert (await server.raw(fewer)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.spec("S1")
async def test_cookies_that_come_in_pieces_or_on_a_connection_in_use_get_the_same_page(make_server):
    server = await make_server(limits=TimeLimits(linger=0.1))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = server.head(*NAVIGATION, TOO_MANY_COOKIES, start="GET / HTTP/1.1")
    writer.write(server.head(start="GET /api/health HTTP/1.1").replace(b"close", b"keep-alive"))
    answer = await reader.readuntil(b"}")
    assert answer.startswith(b"HTTP/1.1 200 ")
    for start in range(0, len(head), 1000):
        writer.write(head[start : start + 1000])
        await asyncio.sleep(0)
    assert b"Delete the cookies of this address" in await read_all(reader)
    writer.close()


@pytest.mark.spec("S1")
async def test_answer_arrives_also_where_a_browser_sends_all_cookies_that_it_may_keep(make_server):
    """180 cookies of 4 KB: more than any buffer on the way takes at once."""
    server = await make_server()
    cookies = "Cookie: " + "; ".join(f"c{number}={'x' * 4000}" for number in range(180))
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(server.head(*NAVIGATION, cookies, start="GET / HTTP/1.1"))
    await asyncio.sleep(0)
    assert b"Delete the cookies of this address" in await read_all(reader)
    writer.close()
    assert (await server.get("/api/health"))[0] == 200


@pytest.mark.spec("S1")
async def test_program_with_too_many_cookies_gets_an_error_object(make_server):
    server = await make_server(limits=TimeLimits(linger=0.1))
    answer = await server.raw(server.head("Accept: */*", "Sec-Fetch-Dest: empty", TOO_MANY_COOKIES))
    assert error_of(answer) == (431, "cookies_too_large")
    assert b"delete the cookies" in answer


@pytest.mark.spec("S1")
async def test_header_over_the_bound_is_refused(make_server):
    server = await make_server(limits=TimeLimits(linger=0.1))
    assert error_of(await server.raw(server.head("X-Long: " + "x" * 20_000))) == (431, "headers_too_large")
    many = [f"X-{number}: a" for number in range(200)]
    assert error_of(await server.raw(server.head(*many))) == (400, "invalid_request")


@pytest.mark.spec("S1")
async def test_connections_beyond_the_bound_are_turned_away_and_places_come_free(make_server):
    server = await make_server(max_connections=2)
    open_ones = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
    for reader, writer in open_ones:
        writer.write(server.head(start="GET /api/health HTTP/1.1").replace(b"Connection: close\r\n", b""))
        await reader.readuntil(b'{"status":"ok"}')
    assert error_of(await server.raw(b"")) == (503, "too_many_connections")
    open_ones[0][1].close()
    async with asyncio.timeout(30):
        while server.app.dispatcher.connections.is_full:
            await asyncio.sleep(0)
    status, _ = await server.answer_to(server.head(start="GET /api/health HTTP/1.1"))
    assert status == 200
    open_ones[1][1].close()


async def test_pipelined_requests_are_answered_in_order(make_server):
    server = await make_server()
    health = server.head(start="GET /api/health HTTP/1.1").replace(b"Connection: close\r\n", b"")
    answer = await server.raw(health + server.head())
    first, second = answer.split(b"HTTP/1.1 200 OK\r\n")[1:]
    assert first.endswith(b'{"status":"ok"}')
    assert json.loads(second.partition(b"\r\n\r\n")[2]) == {"tools": []}


async def test_http_1_0_is_answered_and_closed(make_server):
    server = await make_server()
    answer = await server.raw(server.head(start="GET /api/health HTTP/1.0"))
    assert b"Connection: close" in answer
    assert answer.endswith(b'{"status":"ok"}')


async def test_client_that_leaves_while_a_large_answer_is_sent_harms_nobody(make_server):
    server = await make_server()
    link = await server.host.store.artifacts.save(b"x" * 5_000_000, mime="text/plain", name="big.txt")
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(server.head(start=f"GET /api/artifacts/{link.artifact_id} HTTP/1.1"))
    await reader.readexactly(1000)
    writer.transport.abort()
    status, _ = await server.get("/api/health")
    assert status == 200
