"""What a call costs on hosts of each kind, on the clock, against a bare echo on the same transport."""

import contextlib
import os
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web

from agentcore.core.core import Core
from agentcore.server.addresses import Addresses
from agentcore.server.app import create_app
from benchmarks.calls import NOOP
from benchmarks.measure import Row
from benchmarks.own_host import open_host
from benchmarks.pool.programs import Nats, Program, nats_server, settle
from benchmarks.servers import free_port

Work = Callable[[], Awaitable[None]]
MakeCall = Callable[[Core, str], Work]

_ROUNDS = 30
_CALLS = 50
_MESSAGE = "x" * 400
"""As long as a call."""

_SOCKET_ECHO = """
import sys
from aiohttp import web

async def echo(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(message.data)
    return socket

app = web.Application()
app.router.add_get("/", echo)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
"""

_NATS_ECHO = """
import asyncio, sys, nats

async def main():
    client = await nats.connect(sys.argv[1])
    async def echo(message):
        await message.respond(message.data)
    await client.subscribe("echo", cb=echo)
    await client.flush()
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def rows(folder: Path, calling: MakeCall) -> list[Row]:
    """Measure hosts that dial in over a WebSocket, and those of a pool.

    Args:
        calling: Makes what calls a tool of a host in this process.
    """
    found = await _over_web_socket(folder / "socket", calling)
    if nats_server() is None:
        print("nats-server is not installed: a call over NATS is left out", file=sys.stderr)
        return found
    return [*found, *await _over_nats(folder / "nats", calling)]


async def on_top(what: str, there: Work, here: Work, echo: Work) -> list[Row]:
    """What a call there costs on top of one here: its middle, and the one in a hundred that is slowest.

    Args:
        what: What is called, for the table.
        echo: The floor.
    """
    far, near, bare = await _samples([there, here, echo])
    own = statistics.median(near)
    more = [each - own for each in far]
    return [Row(f"{what}, {name}", of(more), of(bare), None) for name, of in (("p50", statistics.median), ("p99", p99))]


def p99(values: list[float]) -> float:
    """The value that one in a hundred exceeds."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


async def _samples(works: list[Work]) -> list[list[float]]:
    """The milliseconds of each piece of work, in rounds whose order changes."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(_ROUNDS + 3):
        order = list(enumerate(works))
        for index, work in order[turn % len(works) :] + order[: turn % len(works)]:
            for _ in range(_CALLS):
                began = time.perf_counter()
                await work()
                if turn >= 3:
                    times[index].append((time.perf_counter() - began) * 1000)
    return times


def _write_module(folder: Path, name: str) -> None:
    (folder / "modules").mkdir(parents=True, exist_ok=True)
    (folder / "modules" / f"{name}.py").write_text(NOOP.format(name=f"{name}_call"))


# -- over a WebSocket --------------------------------------------------------------------------------------------


async def _over_web_socket(folder: Path, calling: MakeCall) -> list[Row]:
    _write_module(folder / "server", "here")
    _write_module(folder / "far", "there")
    async with (
        open_host(folder / "server", {"modules": ["here"]}) as core,
        _served(core) as address,
        _paired(folder / "far", core, address),
        _socket_echo(folder) as echo,
    ):
        there, here = calling(core, "there_call"), calling(core, "here_call")
        what = "no-op call over a WebSocket, on top of one in the server, against a bare WebSocket echo"
        return await on_top(what, there, here, echo)


@asynccontextmanager
async def _served(core: Core) -> AsyncIterator[str]:
    port = free_port()
    runner = web.AppRunner(create_app(core, addresses=Addresses(port)))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _paired(folder: Path, core: Core, address: str) -> AsyncIterator[None]:
    """A host that was let in, and is connected."""
    worker = Program.of_host(folder, "far", ["there"], "--server", address)
    with worker.running():
        code = await settle(lambda: re.search(r": ([0-9A-Z]{5}-[0-9A-Z]{5})", worker.said()))
        pairing, _ = await core.host_pairings.find_by_code(code[1])
        await core.host_pairings.decide_pairing(pairing.pairing_id, "benchmark", accepts=True)
        await settle(lambda: _has(core, "there_call"))
        yield


def _has(core: Core, tool: str) -> bool:
    return any(each.definition.name == tool for each in core.registry.tools.values())


@asynccontextmanager
async def _socket_echo(folder: Path) -> AsyncIterator[Work]:
    port = free_port()
    program = Program([sys.executable, "-c", _SOCKET_ECHO, str(port)], folder, dict(os.environ), folder / "echo.log")
    with program.running():
        async with aiohttp.ClientSession() as session:
            socket = await settle(lambda: _dial(session, port))

            async def send() -> None:
                await socket.send_str(_MESSAGE)
                await socket.receive_str()

            yield send
            await socket.close()


async def _dial(session: aiohttp.ClientSession, port: int) -> aiohttp.ClientWebSocketResponse | None:
    with contextlib.suppress(OSError, aiohttp.ClientError):
        return await session.ws_connect(f"http://127.0.0.1:{port}/")
    return None


# -- over NATS ---------------------------------------------------------------------------------------------------


async def _over_nats(folder: Path, calling: MakeCall) -> list[Row]:
    _write_module(folder / "server", "here")
    _write_module(folder / "far", "there")
    _write_module(folder / "server", "there")  # what the server itself defines alike needs nobody's word
    nats = Nats(folder / "nats")
    worker = Program.of_host(folder / "far", "far", ["there"], "--server", nats.address, "--pool", "farm")
    farm = {"kind": "nats", "servers": [nats.address], "modules": ["there"]}
    with nats.running(), worker.running():
        await nats.is_up()
        async with (
            open_host(folder / "server", {"modules": ["here", "there"], "hosts": {"farm": farm}}) as core,
            _nats_echo(folder, nats.address) as echo,
        ):
            await settle(lambda: _has(core, "there_call"))
            there, here = calling(core, "there_call"), calling(core, "here_call")
            what = "no-op call over NATS, on top of one in the server, against a bare NATS request and reply"
            return await on_top(what, there, here, echo)


@asynccontextmanager
async def _nats_echo(folder: Path, address: str) -> AsyncIterator[Work]:
    import nats

    program = Program([sys.executable, "-c", _NATS_ECHO, address], folder, dict(os.environ), folder / "echo.log")
    with program.running():
        client = await nats.connect(address)

        async def send() -> None:
            await client.request("echo", _MESSAGE.encode(), timeout=5)

        await settle(lambda: _answers(send))
        yield send
        await client.close()


async def _answers(send: Work) -> bool:
    import nats

    with contextlib.suppress(nats.errors.NoRespondersError):
        await send()
        return True
    return False
