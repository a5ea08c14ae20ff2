"""Servers of the tests, mounted in the real host."""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from agentcore.testing import HostFactory, RunningHost

HERE = Path(__file__).parent
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Block = dict[str, Any]
Mount = Callable[..., Awaitable[RunningHost]]


@pytest.fixture
def example() -> Callable[..., Block]:
    """Make the block of the example, with what agentcore is to make of it."""
    return lambda **ours: {"command": sys.executable, "args": [str(HERE / "example_server.py")], "agentcore": ours}


@pytest.fixture
def odd() -> Callable[..., Block]:
    """Make the block of a server that goes wrong in a way."""
    program = str(HERE / "odd_server.py")
    return lambda way, **ours: {"command": sys.executable, "args": [program, way], "agentcore": ours}


@pytest.fixture
def mount(agentcore_host: HostFactory, example: Callable[..., Block]) -> Mount:
    """Mount one server under the key `Example`."""

    async def mounted(block: Block | None = None, **options: Any) -> RunningHost:
        servers = {"Example": example() if block is None else block}
        return await agentcore_host(["mcp_example"], config={"mcpServers": servers}, **options)

    return mounted


def said_of(method, is_stateless):
    """What a server says of itself, in one of the newest revisions."""
    tools = {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]}
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
    match method:
        case "server/discover" if is_stateless:
            return {"result": {"supportedVersions": ["2026-07-28"], **about, **CACHED}}
        case "initialize" if not is_stateless:
            return {"result": {"protocolVersion": "2025-06-18", **about}}
        case "tools/list":
            return {"result": tools | (CACHED if is_stateless else {})}
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


@pytest.fixture
async def answering():
    """A server that answers every call of a tool as a test says; gives its address."""
    runners = []

    async def start(answer, *, is_stateless=False):
        async def serve(request):
            if request.method != "POST":
                return web.Response(status=405)
            asked = await request.json()
            if asked.get("method") == "tools/call":
                return await answer(request, asked)
            if "id" not in asked:
                return web.Response(status=202)
            return web.json_response({"jsonrpc": "2.0", "id": asked["id"], **said_of(asked["method"], is_stateless)})

        app = web.Application()
        app.router.add_route("*", "/mcp", serve)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/mcp"

    yield start
    for runner in runners:
        await runner.cleanup()
