"""A host with the module, and web servers on loopback that answer as a test says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import HostFactory, RunningHost

PAGES = Path(__file__).parent / "pages"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[..., Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a web server: `await serve({"/": handler})`; gives its address without a final slash."""
    async with AsyncExitStack() as stack:

        async def start(handlers: dict[str, Handler]) -> str:
            app = web.Application()
            for path, handler in handlers.items():
                app.router.add_get(path, handler)
            server = TestServer(app, host="127.0.0.1")
            await server.start_server(shutdown_timeout=0.1)
            stack.push_async_callback(server.close)
            return str(server.make_url("/")).rstrip("/")

        yield start


@pytest.fixture
async def site(serve: Serve) -> str:
    """A server of the saved pages; each says that it is HTML, and names no charset."""

    async def page(request: web.Request) -> web.Response:
        body = await asyncio.to_thread((PAGES / request.match_info["name"]).read_bytes)
        return web.Response(body=body, headers={"Content-Type": "text/html"})

    return await serve({"/pages/{name}": page})


@pytest.fixture
def start(agentcore_host: HostFactory) -> Callable[..., Awaitable[RunningHost]]:
    """Start a host with the module; loopback may be reached unless a test says otherwise."""

    async def make(**settings: Any) -> RunningHost:
        config = {"config": {"web_tools": {"allow_private": True, **settings}}}
        return await agentcore_host(modules=["web_tools"], config=config)

    return make


@pytest.fixture
def fetch(start: Callable[..., Awaitable[RunningHost]]) -> Callable[..., Awaitable[ToolResult]]:
    """Fetch an address as a person does, with a host of its own."""

    async def run(url: str, settings: dict[str, Any] | None = None, **arguments: Any) -> ToolResult:
        host = await start(**(settings or {}))
        return await host.call("web_fetch", url=url, **arguments)

    return run


@pytest.fixture
def failure(fetch: Callable[..., Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolError]]:
    """Fetch an address that cannot be fetched, and give the error."""

    async def run(url: str, settings: dict[str, Any] | None = None, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as caught:
            await fetch(url, settings, **arguments)
        return caught.value

    return run


@pytest.fixture
def text() -> Callable[[ToolResult], str]:
    """All text of a result."""
    return lambda result: "\n".join(block.text for block in result.blocks() if isinstance(block, Text))
