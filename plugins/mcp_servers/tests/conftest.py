"""Servers of the tests, mounted in the real host."""

import asyncio
import contextlib
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import uvicorn
from aiohttp import web

from agentcore.testing import HostFactory, RunningHost
from tests.support.waiting import wait_until

HERE = Path(__file__).parent
CACHED = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Block = dict[str, Any]
Mount = Callable[..., Awaitable[RunningHost]]


def load_beside(name: str) -> ModuleType:
    """Load a file of this folder, which is no package, once more."""
    spec = spec_from_file_location(f"agentcore_mcp_test_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # where the SDK looks up the names in annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="load_beside", scope="session")
def _load_beside() -> Callable[[str], ModuleType]:
    return load_beside


@asynccontextmanager
async def serving(app: Any, port: int) -> AsyncIterator[None]:
    """Serve an application of ASGI, such as a server of the SDK, in the event loop of the test."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())  # without handlers of signals
    try:
        await wait_until(lambda: server.started or running.done())
        yield
    finally:
        server.should_exit = True
        await running


@pytest.fixture(name="serving", scope="session")
def _serving() -> Callable[[Any, int], Any]:
    return serving


@pytest.fixture
def plain() -> Callable[..., Block]:
    """Make the block of a plain server, with what agentcore is to make of it.

    It is not read from its file, which a sandbox may not show.
    """
    program = (HERE / "plain_server.py").read_text(encoding="utf-8")
    return lambda **ours: {"command": sys.executable, "args": ["-c", program], "agentcore": ours}


@pytest.fixture
def odd() -> Callable[..., Block]:
    """Make the block of a server that goes wrong in a way."""
    program = (HERE / "odd_server.py").read_text(encoding="utf-8")
    return lambda way, **ours: {"command": sys.executable, "args": ["-c", program, way], "agentcore": ours}


@pytest.fixture
def mount(agentcore_host: HostFactory) -> Mount:
    """Mount one server under the key `Example`."""

    async def mounted(block: Block, **options: Any) -> RunningHost:
        return await agentcore_host(["mcp_example"], config={"mcpServers": {"Example": block}}, **options)

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


class Memory:
    """How much more memory this process ever had since then; 0 where the system does not say."""

    def __init__(self) -> None:
        self._before: int | None = None
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # the most is from now on
            self._before = self._mib("VmRSS")

    def grown_mib(self) -> int:
        """The most beyond what was used at first, in MiB."""
        return 0 if self._before is None else self._mib("VmHWM") - self._before

    def _mib(self, name: str) -> int:
        found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
        assert found is not None
        return int(found[1]) // 1024


@pytest.fixture
def measure_memory() -> type[Memory]:
    """Begin to measure memory: `measure_memory().grown_mib()`."""
    return Memory
