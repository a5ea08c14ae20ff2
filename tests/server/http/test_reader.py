"""Bodies, through a real connection: bounded in bytes and time, JSON only, validated field by field."""

import asyncio
import json

import pytest

from agentcore.api import Module, ToolContext, tool
from agentcore.server.http.server_limits import BODY_BYTES, TimeLimits


class Echo(Module):
    """Gives back what it gets."""

    name = "echo"

    @tool(read_only=True)
    async def echo(self, ctx: ToolContext, text: str = "") -> int:
        """Count characters.

        Args:
            text: Any text.
        """
        return len(text)


SERVER = {"modules": [Echo], "limits": TimeLimits(body=0.5, linger=0.2)}


def post(bare_server, body: bytes, *headers: str, content_type: str | None = "application/json") -> bytes:
    types = [] if content_type is None else [f"Content-Type: {content_type}"]
    lines = [*types, f"Content-Length: {len(body)}", *headers]
    return bare_server.head(*lines, start="POST /api/tools/echo/call HTTP/1.1") + body


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", None]
)
async def test_other_media_types_are_refused(bare_server, content_type):
    status, answer = await bare_server.answer_to(post(bare_server, b'{"arguments": {}}', content_type=content_type))
    assert (status, answer["error"]["type"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=UTF-8", "Application/JSON"])
async def test_json_in_utf_8_is_taken(bare_server, content_type):
    status, answer = await bare_server.answer_to(post(bare_server, b'{"arguments": {}}', content_type=content_type))
    assert (status, answer["ok"]) == (200, True)


@pytest.mark.spec("S1")
async def test_compressed_body_is_refused(bare_server):
    status, answer = await bare_server.answer_to(post(bare_server, b"x", "Content-Encoding: gzip"))
    assert (status, answer["error"]["type"]) == (415, "unsupported_media_type")


@pytest.mark.spec("S1")
async def test_body_over_the_bound_is_refused_before_it_is_sent(bare_server):
    head = bare_server.head(
        "Content-Type: application/json",
        f"Content-Length: {BODY_BYTES + 1}",
        start="POST /api/tools/echo/call HTTP/1.1",
    )
    status, answer = await bare_server.answer_to(head)
    assert (status, answer["error"]["type"]) == (413, "body_too_large")


async def test_chunked_body_over_the_bound_is_refused(bare_server):
    async def endless():
        for _ in range(BODY_BYTES // 65536 + 2):
            yield b" " * 65536

    async with bare_server.client.post(
        f"{bare_server.url}/api/tools/echo/call", data=endless(), headers={"Content-Type": "application/json"}
    ) as response:
        assert response.status == 413
        assert (await response.json())["error"]["type"] == "body_too_large"


async def test_large_body_is_read(bare_server):
    body = json.dumps({"arguments": {"text": "x" * 3_000_000}}).encode()
    status, envelope = await bare_server.answer_to(post(bare_server, body))
    assert (status, envelope["data"]) == (200, 3_000_000)


@pytest.mark.slow
@pytest.mark.spec("S1")
async def test_body_that_does_not_end_is_cut_off(bare_server):
    head = bare_server.head(
        "Content-Type: application/json", "Content-Length: 100", start="POST /api/tools/echo/call HTTP/1.1"
    )
    status, answer = await bare_server.answer_to(head + b'{"argum')
    assert (status, answer["error"]["type"]) == (408, "request_timeout")
    assert answer["error"]["retryable"]


@pytest.mark.slow
async def test_body_that_trickles_is_cut_off(bare_server):
    head = bare_server.head(
        "Content-Type: application/json", "Content-Length: 100000", start="POST /api/tools/echo/call HTTP/1.1"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", bare_server.port)
    writer.write(head)
    answer = asyncio.ensure_future(reader.readline())
    async with asyncio.timeout(30):
        while not answer.done():
            writer.write(b" ")
            await asyncio.wait({answer}, timeout=0.02)
    writer.close()
    assert b" 408 " in answer.result()


async def test_malformed_chunks_are_refused(bare_server):
    head = bare_server.head(
        "Content-Type: application/json", "Transfer-Encoding: chunked", start="POST /api/tools/echo/call HTTP/1.1"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", bare_server.port)
    writer.write(head + b"2\r\n{}\r\n")
    async with asyncio.timeout(30):
        while not bare_server.app.dispatcher.connections.connections[0]._request_in_progress:
            await asyncio.sleep(0)
        writer.write(b"zz\r\n")
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["type"] == "incomplete_body"


async def test_client_that_waits_to_be_asked_is_asked(bare_server):
    body = b'{"arguments": {}}'
    reader, writer = await asyncio.open_connection("127.0.0.1", bare_server.port)
    writer.write(post(bare_server, body, "Expect: 100-continue")[: -len(body)])
    async with asyncio.timeout(30):
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(body)
        assert b" 200 " in await reader.readline()
    writer.close()


@pytest.mark.spec("S1")
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[NaN]", b"\xff", b'{"arguments": {"a": 1, "a": 2}}', b"[" * 1000, b"9" * 6000, b'"\\ud800"']
)
async def test_what_is_no_json_is_a_400_with_our_error_object(bare_server, body):
    status, answer = await bare_server.answer_to(post(bare_server, body))
    assert (status, answer["ok"], answer["error"]["type"]) == (400, False, "invalid_json")
    assert set(answer["error"]) == {"type", "message", "context", "retryable"}


@pytest.mark.spec("S1")
async def test_each_wrong_field_of_a_body_is_named(bare_server):
    wrong = {"arguments": [], "timeout_ms": "5", "session_id": "a b", "argument": {}}
    status, answer = await bare_server.post("/api/tools/echo/call", wrong)
    assert (status, answer["error"]["type"]) == (400, "invalid_body")
    assert {error["path"] for error in answer["error"]["context"]["errors"]} == set(wrong)


async def test_body_that_is_no_object_is_refused(bare_server):
    status, answer = await bare_server.post("/api/tools/echo/call", [1])
    assert (status, answer["error"]["type"]) == (400, "invalid_body")


@pytest.mark.parametrize(
    "query", ["format=xml", "format=mcp&format=mcp", "colour=red", "a=%ff", "&".join(["a=1"] * 40)]
)
async def test_wrong_query_is_refused(bare_server, query):
    status, answer = await bare_server.answer_to(bare_server.head(start=f"GET /api/tools?{query} HTTP/1.1"))
    assert (status, answer["error"]["type"]) == (400, "invalid_query")


async def test_hits_of_bounds_are_counted(bare_server):
    await bare_server.answer_to(
        bare_server.head(
            "Content-Type: application/json", "Content-Length: 9", start="POST /api/tools/echo/call HTTP/1.1"
        )
    )
    async with bare_server.client.get(f"{bare_server.url}/api/metrics") as response:
        assert 'agentcore_limit_hits_total{limit="body_timeout"} 1' in await response.text()


async def test_text_that_is_no_unicode_comes_back_in_an_error(bare_server):
    """A path may hold any bytes; the answer that names it is valid JSON all the same."""
    status, answer = await bare_server.answer_to(bare_server.head(start="GET /api/artifacts/%ff%fe HTTP/1.1"))
    assert status == 404
    assert json.dumps(answer)
