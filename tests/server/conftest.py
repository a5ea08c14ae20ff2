"""A real server over a real host, on loopback, at a port that the system chose."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp.test_utils import TestServer

from agentcore.api import Module
from agentcore.api.tool_context import Principal
from agentcore.core.context_task import ContextTask
from agentcore.core.core import Core
from agentcore.core.discovery.families import load_config
from agentcore.hosts.hosts import Hosts
from agentcore.server.app import create_app
from agentcore.server.http.application import ServerApplication
from agentcore.store.state.state_dir import StateDir
from agentcore.testing import EventLog
from tests.declared_events import undeclared
from tests.server import served

PERSON = Principal("cli")


@dataclass
class Running:
    """A server that runs, and a client that shows the token."""

    host: Core
    app: ServerApplication
    port: int
    client: aiohttp.ClientSession

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        """The API token."""
        return self.host.state.token.get_secret_value()

    async def get(self, path: str, **kwargs: Any) -> tuple[int, Any]:
        """Status and JSON of a GET."""
        async with self.client.get(self.url + path, **kwargs) as response:
            return response.status, await response.json()

    async def post(self, path: str, body: Any = None, **kwargs: Any) -> tuple[int, Any]:
        """Status and JSON of a POST."""
        async with self.client.post(self.url + path, json={} if body is None else body, **kwargs) as response:
            return response.status, await response.json()

    async def call(self, tool: str, arguments: Mapping[str, Any] | None = None, **body: Any) -> Any:
        """The envelope of a call."""
        status, envelope = await self.post(f"/api/tools/{tool}/call", {"arguments": arguments or {}, **body})
        assert status == 200
        return envelope

    async def raw(self, data: bytes) -> bytes:
        """Everything that comes back for bytes on a fresh connection, until the server closes it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            async with asyncio.timeout(30):
                return await reader.read()
        finally:
            writer.close()
            await writer.wait_closed()

    async def answer_to(self, request: bytes) -> tuple[int, Any]:
        """Status and JSON of a request given as bytes, whose connection the server closes or is asked to close."""
        head, _, body = (await self.raw(request)).partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), json.loads(body)

    def head(self, *lines: str, start: str = "GET /api/tools HTTP/1.1", token: bool = True) -> bytes:
        """The head of a request with the right host and token, closing the connection."""
        shown = [start, f"Host: 127.0.0.1:{self.port}", "Connection: close", *lines]
        if token:
            shown.append(f"Authorization: Bearer {self.token}")
        return ("\r\n".join(shown) + "\r\n\r\n").encode()


MakeServer = Callable[..., Awaitable[Running]]


@asynccontextmanager
async def running(
    place: Path,
    *given: Module,
    files: Mapping[str, str] | None = None,
    app: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[Running]:
    """A server over modules given as objects and local modules given as name and source.

    Args:
        place: The folder of its app.json and its state.
        files: Local modules, name to source.
        app: What app.json says.
        environ: Environment variables that are settings.
        options: What `create_app` takes.
    """
    folder = place / "app"
    (folder / "modules").mkdir(parents=True)
    for name, source in (files or {}).items():
        (folder / "modules" / f"{name}.py").write_text(source)
    (folder / "app.json").write_text(json.dumps({"server": {"port": 0}, **(app or {})}, indent=2))
    variables = {"AGENTCORE_STATE_DIR": str(place / "state"), **(environ or {})}
    config = load_config(folder / "app.json", variables)
    with StateDir.open(config.file, environ=variables) as state:
        async with Core.open(config, state, given, places=Hosts(config)) as core:
            events = EventLog(core.events)
            application = create_app(core, **options)
            server = TestServer(application)
            await server.start_server(shutdown_timeout=0.5)
            async with server, aiohttp.ClientSession(headers=_shown(state)) as client:
                assert server.port is not None
                yield Running(core, application, server.port, client)
    assert undeclared(events) == []


def _shown(state: StateDir) -> dict[str, str]:
    return {"Authorization": f"Bearer {state.token.get_secret_value()}"}


@pytest.fixture
async def make_server(tmp_path: Path) -> AsyncIterator[MakeServer]:
    """Start a server with the arguments of `running`, which ends with the test."""
    async with AsyncExitStack() as stack:

        async def make(*given: Module, **options: Any) -> Running:
            held = await ContextTask.open(running(tmp_path, *given, **options), "server")
            stack.push_async_callback(held.close)
            return held.value

        yield make


@pytest.fixture
async def bare_server(request: pytest.FixtureRequest, make_server: MakeServer) -> Running:
    """The server of the page's origin alone that the test file describes as `SERVER`: the arguments of `running`.

    `modules` are classes of modules, or names of fixtures that give one.
    """
    described = dict(getattr(request.module, "SERVER", {}))
    modules = [
        request.getfixturevalue(each) if isinstance(each, str) else each() for each in described.pop("modules", ())
    ]
    return await make_server(*modules, **described)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_bare_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Running]:
    """What `bare_server` gives, once for all tests of the file."""
    described = dict(getattr(request.module, "SERVER", {}))
    modules = [each() for each in described.pop("modules", ())]
    async with running(tmp_path_factory.mktemp("server"), *modules, **described) as server:
        yield server


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., served.Server]]:
    """Starts `agentcore serve` as a process, with local modules given as names and sources."""
    servers = []

    def start(files: Mapping[str, str], **options: Any) -> served.Server:
        servers.append(served.Server(tmp_path, files, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.end()
