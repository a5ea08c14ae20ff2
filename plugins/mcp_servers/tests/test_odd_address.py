"""A server at an address that answers a call wrongly: that call ends with a reason, and the next one is answered."""

import contextlib
import gzip
import json
import zlib
from functools import cache

import pytest
from aiohttp import web

MIB = 1024 * 1024


def result(asked, text="clear"):
    """The answer to a call."""
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": text}]}}


MANY = {"jsonrpc": "2.0", "result": {"content": [{"type": "text", "text": ""}] * 50_000}}


@cache
def bomb():
    """200 MB of spaces, packed: made where they are sent, not wherever this file is read, and never held at once."""
    packing, piece = zlib.compressobj(wbits=31), b" " * MIB
    return b"".join([*(packing.compress(piece) for _ in range(190)), packing.flush()])


def event(message):
    """A message as an event."""
    return b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


async def stream(request, *parts, **headers):
    """Answer with events."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **headers})
    await response.prepare(request)
    for part in parts:
        await response.write(part)
    return response


def body(data, status=200, **headers):
    """Answer with a body."""
    return web.Response(body=data, status=status, headers={"Content-Type": "application/json", **headers})


async def endless(request, _asked):
    """An event that never ends."""
    response = await stream(request, b"data: ")
    for _ in range(200):
        await response.write(b"x" * MIB)
    return response


async def cut(request, _asked):
    """A body that is shorter than was said."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"jsonrpc"')
    request.transport.close()
    return response


async def _two(request, asked):
    return await stream(request, event(result(asked)), event(result(asked, "second")))


async def _notes(request, asked):
    note = {"jsonrpc": "2.0", "method": "notifications/of_nobody", "params": {"requestId": 98765}}
    return await stream(request, b": nothing\n\n", event(note), event(result(asked)))


async def _large(request, asked):
    return await stream(request, event(result(asked, "clear" + " " * 3 * MIB)))


async def _packed(request, asked):
    packed = gzip.compress(json.dumps(result(asked)).encode())
    return body(packed, **{"Content-Encoding": "gzip"})


async def _packed_events(request, asked):
    return await stream(request, gzip.compress(event(result(asked))), **{"Content-Encoding": "gzip"})


HARMLESS = {
    "two answers": _two,
    "notes": _notes,
    "three MiB": _large,
    "packed": _packed,
    "packed events": _packed_events,
}


@pytest.mark.parametrize("way", HARMLESS)
async def test_what_a_server_sends_beside_its_answer_does_no_harm(mount, answering, way):
    host = await mount({"url": await answering(HARMLESS[way])})
    for _ in range(2):
        assert (await host.call("example_go")).blocks()[0].text.startswith("clear")


def _given(make):
    async def answer(request, asked):
        made = make(asked)
        return await stream(request, *made) if isinstance(made, tuple) else made

    return answer


WRONG = {
    "half of a message": _given(lambda asked: body(b'{"jsonrpc": "2.0", "id": 1, "resu')),
    "nothing": _given(lambda asked: body(b"")),
    "a page": _given(lambda asked: body(b"<h1>Welcome</h1>", **{"Content-Type": "text/html"})),
    "no content": _given(lambda asked: web.Response(status=202)),
    "junk": _given(lambda asked: (b"data: {half of a mess\n\n", event(result(asked)))),
    "another packing": _given(lambda asked: body(b"?", **{"Content-Encoding": "br"})),
    "what is not packed": _given(lambda asked: body(b"{}", **{"Content-Encoding": "gzip"})),
    "a list": _given(lambda asked: body(json.dumps([result(asked)]).encode())),
    "an answer to nobody": _given(lambda asked: body(json.dumps(result({"id": 98765})).encode())),
    "result and error": _given(
        lambda asked: body(json.dumps(result(asked) | {"error": {"code": -1, "message": "no"}}).encode())
    ),
    "a result that is a list": _given(lambda asked: body(json.dumps(result(asked) | {"result": []}).encode())),
    "deep": _given(lambda asked: body(b"[" * 100_000)),
    "not utf-8": _given(lambda asked: body(b'{"jsonrpc": "2.0", "id": 1, "result": "\xff\xfe"}')),
    "a bomb": _given(lambda asked: body(bomb(), **{"Content-Encoding": "gzip"})),
    "events in a bomb": _given(
        lambda asked: body(bomb(), **{"Content-Encoding": "gzip", "Content-Type": "text/event-stream"})
    ),
    "very many values": _given(lambda asked: body(json.dumps(MANY | {"id": asked["id"]}).encode())),
    "very many values in an event": _given(lambda asked: (event(MANY | {"id": asked["id"]}),)),
    "a stream that ends": _given(lambda asked: (b": hello\n\n",)),
    "an endless event": endless,
    "a cut body": cut,
    "moved": _given(lambda asked: web.Response(status=307, headers={"Location": "http://127.0.0.1:9/mcp"})),
    "moved to the metadata of a cloud": _given(
        lambda asked: web.Response(status=308, headers={"Location": "http://169.254.169.254/mcp"})
    ),
    "forbidden": _given(lambda asked: web.Response(status=403, text="no")),
    "too many": _given(lambda asked: web.Response(status=429, headers={"Retry-After": "30"})),
    "broken": _given(lambda asked: web.Response(status=500, text="Traceback …")),
}


SAID = {
    "half of a message": "no message of MCP",
    "junk": "no message of MCP",
    "a bomb": "over 16,777,216 bytes",
    "events in a bomb": "16777216 byte limit",
    "very many values": "over 100,000 values",
    "very many values in an event": "SSE stream ended without a response",
    "an endless event": "16777216 byte limit",
    "a cut body": "cannot be read",
    "another packing": "'br'",
    "too many": "HTTP 429 Too Many Requests; it asks to wait for 30",
    "forbidden": "HTTP 403 Forbidden",
}


@pytest.mark.parametrize("way", WRONG)
async def test_a_wrong_answer_ends_its_call_and_the_next_one_is_answered(mount, answering, measure_memory, way):
    calls = []

    async def answer(request, asked):
        calls.append(asked)
        return await WRONG[way](request, asked) if len(calls) == 1 else body(json.dumps(result(asked)).encode())

    is_waited_for = way == "an answer to nobody"
    limit_s = 5 if is_waited_for else 60
    host = await mount({"url": await answering(answer), "agentcore": {"timeout_s": limit_s}})
    memory = measure_memory()
    outcome = await host.outcome("example_go")
    assert not outcome.ok
    assert outcome.error.type == ("timeout" if is_waited_for else "server_refused")
    assert SAID.get(way, "") in outcome.error.message
    assert "pydantic" not in outcome.error.message
    assert memory.grown_mib() < 100
    assert (await host.call("example_go")).blocks()[0].text == "clear"
    assert len(calls) == 2


async def test_an_endless_event_of_an_older_server_is_no_answer(mount, unused_tcp_port, measure_memory):
    async def serve(request):
        response = await stream(request, b"event: endpoint\ndata: /messages\n\n", b"data: ")
        with contextlib.suppress(OSError):
            for _ in range(200):
                await response.write(b"x" * MIB)
        return response

    async def accept(_request):
        return web.Response(status=202)

    app = web.Application()
    app.router.add_get("/sse", serve)
    app.router.add_post("/messages", accept)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    memory = measure_memory()
    block = {"type": "sse", "url": f"http://127.0.0.1:{unused_tcp_port}/sse"}
    host = await mount(block, is_failure_expected=True)
    assert "byte limit" in host.host.modules.get_record("mcp_example").waiting.said
    assert memory.grown_mib() < 100
    await runner.cleanup()
