"""One event to a thousand readers of the event stream, against plain writes of the same bytes to the same sockets."""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.measure import Row
from benchmarks.own_host import open_host

READERS = 1000
_ROUNDS = 60

_READER = """
import selectors, socket, sys

port, token, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
request = (f"GET /api/events HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nAuthorization: Bearer {token}\\r\\n"
           "Accept: text/event-stream\\r\\n\\r\\n").encode()
selector = selectors.DefaultSelector()
for _ in range(count):
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(request)
    connection.recv(1 << 16)
    selector.register(connection, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        if not key.fileobj.recv(1 << 16):
            selector.unregister(key.fileobj)
"""


def run() -> list[Row]:
    """Measure, and give the row."""
    with tempfile.TemporaryDirectory() as folder:
        return [asyncio.run(_measure(Path(folder) / "app"))]


async def _measure(folder: Path) -> Row:
    async with with_readers(folder) as (host, streams):
        ours, floor = await _rounds(host, streams)
    return Row(f"one event to {READERS} readers, against plain writes", ours, floor, 1.3)


@asynccontextmanager
async def with_readers(folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """A host with its server in this process, and a thousand readers of its events; gives the host and the streams."""
    from agentcore.server.app import create_app

    folder.mkdir()
    async with open_host(folder, {"server": {"port": 0}}) as core:
        app = create_app(core)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        token = core.state.token.get_secret_value()
        try:
            async with listening(port, token):
                yield core, app.dispatcher.parts.events
        finally:
            await runner.cleanup()


@asynccontextmanager
async def listening(port: int, token: str) -> AsyncIterator[None]:
    """A process that reads the events of a server over a thousand connections."""
    reader = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _READER, str(port), token, str(READERS),
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert reader.stdout is not None
    try:
        async with asyncio.timeout(60):
            assert await reader.stdout.readline() == b"ready\n"
        yield
    finally:
        reader.kill()
        await reader.wait()


async def publish(host: Any, streams: Any) -> None:
    """Publish an event, until it is written to all readers."""
    data = {"callId": "call_0123456789abcdef", "tool": "read_file", "outcome": "ok", "durationMs": 1.25}
    host.events.publish("call.finished", data, session_id="bench")
    while streams._pending:
        await asyncio.sleep(0)


async def _rounds(host: Any, streams: Any) -> tuple[float, float]:
    (group,) = streams._groups.values()
    transports = [reader.stream.transport for reader in group.readers]
    written: list[bytes] = []
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        await publish(host, streams)
        times[0].append((time.perf_counter() - began) * 1000)
        if not written:
            event = host.events.events_since(host.events.last_id.rpartition("-")[0] + "-0")
            from agentcore.server.http.raw_stream import encode_chunk, encode_event

            written.append(encode_chunk(encode_event(event[-1].type, event[-1].encode(), event[-1].id)))
        await asyncio.sleep(0.02)  # let the readers take it
        began = time.perf_counter()
        for transport in transports:
            transport.write(written[0])
        await asyncio.sleep(0)
        times[1].append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.02)
    return statistics.median(times[0][3:]), statistics.median(times[1][3:])
