"""MCP: what it adds to a call of a tool that does nothing.

Counted is processor time, of the server and the client together: other programs disturb that least. Client and server
take turns, so that it is also the time that a call takes on a machine that does nothing else.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agentcore.supervision.descendants import list_descendants
from benchmarks import servers
from benchmarks.calls import BODY, NOOP
from benchmarks.http_client import Connection, request_bytes
from benchmarks.measure import Pairs, Row

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
_ROUNDS = 40
_CALLS = 100
_STARTS = 9
_MOUNTED = 20
_ARGUMENTS = json.loads(BODY)["arguments"]
_TOOL = "noop_call"

Call = Callable[[], None]
"""Makes one call and waits for its end."""

AsyncCall = Callable[[], Awaitable[None]]
Costs = tuple[list[float], list[float]]
"""Of rounds of a subject and its floor, in turn."""


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return [
            *_over_http(place / "http"),
            _over_stdio(place / "stdio"),
            asyncio.run(_mounted(place / "mounted")),
            _page_beside_servers(place),
        ]


def _over_http(folder: Path) -> list[Row]:
    """Both kinds of revision against our own HTTP call: one server, one client's key."""
    app = {"clients": {"bench": {"mode": "allow"}}}
    with servers.agentcore(folder, {"noop": NOOP.format(name=_TOOL)}, app) as server:
        key = _key(server)
        with _calls_of(server, "/api/tools/noop_call/call", server.token, BODY) as own:
            with _handshake(server, key) as call:
                rows = [_row(f"/mcp, {HANDSHAKE}, against our own HTTP call", server.pid, call, own)]
            with _stateless(server, key) as call:
                rows.append(_row(f"/mcp, {STATELESS}, against our own HTTP call", server.pid, call, own))
    return rows


_ECHO = """
import asyncio, sys

ANSWER = open(sys.argv[2], "rb").read()

async def serve(reader, writer):
    while await reader.readline():
        writer.write(ANSWER)
        await writer.drain()

async def main():
    async with await asyncio.start_unix_server(serve, sys.argv[1]) as server:
        print("ready", flush=True)
        await server.serve_forever()

asyncio.run(main())
"""

_RELAY = """
import asyncio, os, sys

async def pump(reader, write, drain):
    while data := await reader.read(65536):
        write(data)
        await drain()

async def nothing():
    pass

async def main():
    there, out = await asyncio.open_unix_connection(sys.argv[1])
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    pumps = pump(lines, out.write, out.drain), pump(there, lambda data: os.write(1, data), nothing)
    await asyncio.wait([asyncio.ensure_future(each) for each in pumps], return_when=asyncio.FIRST_COMPLETED)

asyncio.run(main())
"""


def _over_stdio(folder: Path) -> Row:
    """A call through `agentcore mcp` against the same bytes through a bare relay to a server that only answers."""
    app = {"clients": {"bench": {"mode": "allow"}}}
    client = {"name": "bench", "version": "1"}
    hello = _message("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client})
    body = _message("tools/call", {"name": _TOOL, "arguments": _ARGUMENTS}) + b"\n"
    with ExitStack() as stack:
        server = stack.enter_context(servers.agentcore(folder, {"noop": NOOP.format(name=_TOOL)}, app))
        environ = os.environ | {
            "AGENTCORE_STATE_DIR": str(folder.parent / f"{folder.name}-state"),
            "AGENTCORE_TOKEN": server.token,
        }
        command = ["-m", "agentcore", "mcp", "--client", "bench", "--config", str(folder / "app.json")]
        ours = stack.enter_context(_piped(*command, env=environ))
        _said(ours, hello + b"\n")
        _write(ours, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        answer = _said(ours, body)
        assert b'"isError":true' not in answer, answer
        (folder / "answer").write_bytes(answer)
        echo = stack.enter_context(_piped("-c", _ECHO, str(folder / "socket"), str(folder / "answer")))
        assert echo.stdout is not None
        echo.stdout.readline()
        bare = stack.enter_context(_piped("-c", _RELAY, str(folder / "socket")))

        async def through(relay: subprocess.Popen[bytes]) -> None:
            if len(_said(relay, body)) != len(answer):
                raise AssertionError("another answer than before")

        costs = asyncio.run(_in_turn(lambda: through(ours), lambda: through(bare)))
    return _row_of("stdio, against a bare relay to a server that only answers", costs, 2.5)


@contextmanager
def _piped(*arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line)
    process.stdin.flush()


def _said(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """The answer to a line; what is told besides is passed over."""
    _write(process, line)
    assert process.stdout is not None
    while b'"id":' not in (answer := process.stdout.readline()):
        if not answer:
            raise AssertionError("the relay ended")
    return answer


_SERVER = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "number": {"type": "integer"}}}

async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="noop", description="Do nothing.", input_schema=SCHEMA)])

async def call_tool(ctx, params):
    return types.CallToolResult(content=[types.TextContent(text="ok")])

async def main():
    server = Server("noop", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""


async def _mounted(folder: Path) -> Row:
    """A call of a mounted stdio server against the SDK's own client on that server: a process of it for each."""
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    from agentcore.api.tool_context import Principal
    from agentcore.core.calls.call import CallRequest
    from benchmarks.own_host import open_host

    folder.mkdir()
    (folder / "server.py").write_text(_SERVER)
    block = {"command": sys.executable, "args": [str(folder / "server.py")]}
    # a sandbox has a /tmp of its own, without the program
    app = {"modules": ["mcp_noop"], "mcpServers": {"noop": {**block, "agentcore": {"sandbox": "off"}}}}
    arguments = {"text": _ARGUMENTS["text"], "number": 7}
    async with (
        open_host(folder, app) as core,
        stdio_client(StdioServerParameters(**block)) as streams,
        ClientSession(*streams) as client,
    ):
        await client.initialize()
        while "noop_noop" not in core.registry.tools:
            await asyncio.sleep(0.01)

        async def mounted() -> None:
            outcome = await core.run_call(CallRequest("noop_noop", dict(arguments), Principal("cli")))
            assert outcome.ok, outcome.error

        async def bare() -> None:
            result = await client.call_tool("noop", arguments)
            assert not result.is_error

        costs = await _in_turn(mounted, bare)
    return _row_of("mounted stdio server, against the SDK's client on it", costs, 1.2)


def _page_beside_servers(folder: Path) -> Row:
    """From nothing to the page's document, with twenty mounted servers and with none."""
    blocks = {f"noop-{number}": {"command": sys.executable, "args": ["-c", _SERVER]} for number in range(_MOUNTED)}
    listed = ["noop", *(f"mcp_noop_{number}" for number in range(_MOUNTED))]
    app: dict[str, Any] = {"modules": listed, "mcpServers": blocks}

    def start(name: str, app: Mapping[str, Any]) -> float:
        with servers.agentcore(folder / name, {"noop": NOOP.format(name=_TOOL)}, dict(app), first="/") as running:
            return running.ready_ms

    pairs = Pairs([], [])
    for turn in range(_STARTS + 1):
        ours, none = start("many", app), start("none", {})
        if turn:
            pairs.subject.append(ours)
            pairs.floor.append(none)
    return pairs.row(f"start to the page's document with {_MOUNTED} mounted servers, against none", 1.2)


async def _in_turn(subject: AsyncCall, floor: AsyncCall) -> Costs:
    """CPU milliseconds of a call of each, with all processes that work for it; idle ones cost nothing."""
    costs: Costs = ([], [])
    for turn in range(_ROUNDS + 3):
        for index, call in ((0, subject), (1, floor)) if turn % 2 else ((1, floor), (0, subject)):
            spent = _tree_cpu_ms()
            for _ in range(_CALLS):
                await call()
            if turn >= 3:
                costs[index].append((_tree_cpu_ms() - spent) / _CALLS)
    return costs


def _tree_cpu_ms() -> float:
    return sum(map(servers.cpu_ms, (os.getpid(), *list_descendants(os.getpid()))))


def _row(what: str, pid: int, subject: Call, floor: Call, target: float = 2) -> Row:
    """Rounds of the two in turn; the median of their ratios counts."""
    costs: Costs = ([], [])
    for turn in range(_ROUNDS + 3):
        for index, call in ((0, subject), (1, floor)) if turn % 2 else ((1, floor), (0, subject)):
            spent = _cpu_ms(pid)
            for _ in range(_CALLS):
                call()
            if turn >= 3:
                costs[index].append((_cpu_ms(pid) - spent) / _CALLS)
    return _row_of(what, costs, target)


def _row_of(what: str, costs: Costs, target: float) -> Row:
    paired = statistics.median(ours / theirs for ours, theirs in zip(*costs, strict=True))
    ours, theirs = map(statistics.median, costs)
    return Row(f"no-op call over {what}, CPU time", ours, theirs, target, paired=paired)


def _cpu_ms(pid: int) -> float:
    return servers.cpu_ms(pid) + time.process_time() * 1000


# -- clients ---------------------------------------------------------------------------------------------------


@contextmanager
def _calls_of(
    server: servers.Running, path: str, key: str, body: bytes, headers: dict[str, str] | None = None
) -> Iterator[Call]:
    connection = Connection(server.port)
    request = request_bytes("POST", path, server.port, body, key, headers=headers)

    def call() -> None:
        answer = connection.send(request)
        if not answer.startswith(b"HTTP/1.1 200") or b'"ok":false' in answer or b'"isError":true' in answer:
            raise AssertionError(answer[:1000])

    yield call
    connection.close()


@contextmanager
def _handshake(server: servers.Running, key: str) -> Iterator[Call]:
    shown = {"Accept": "application/json, text/event-stream"}
    client = {"name": "bench", "version": "1"}
    hello = _message("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client})
    connection = Connection(server.port)
    head = connection.send(request_bytes("POST", "/mcp", server.port, hello, key, headers=shown)).decode()
    session = next(line for line in head.splitlines() if line.lower().startswith("mcp-session-id:"))
    shown |= {"Mcp-Session-Id": session.partition(":")[2].strip(), "Mcp-Protocol-Version": HANDSHAKE}
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    connection.send(request_bytes("POST", "/mcp", server.port, note, key, headers=shown))
    connection.close()
    body = _message("tools/call", {"name": _TOOL, "arguments": _ARGUMENTS})
    with _calls_of(server, "/mcp", key, body, shown) as call:
        yield call


@contextmanager
def _stateless(server: servers.Running, key: str) -> Iterator[Call]:
    shown = {
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": STATELESS,
        "Mcp-Method": "tools/call",
        "Mcp-Name": _TOOL,
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = _message("tools/call", {"name": _TOOL, "arguments": _ARGUMENTS, "_meta": meta})
    with _calls_of(server, "/mcp", key, body, shown) as call:
        yield call


def _message(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _key(server: servers.Running) -> str:
    """A key of a client, as a person makes one."""
    connection = Connection(server.port)
    body = json.dumps({"name": "bench"}).encode()
    answer = connection.send(request_bytes("POST", "/api/mcp/clients", server.port, body, server.token))
    connection.close()
    return str(json.loads(answer.partition(b"\r\n\r\n")[2])["key"])
