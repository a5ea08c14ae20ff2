"""The real server on loopback, for tests of what a module does over HTTP."""

import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from agentcore.api.errors import ToolError
from agentcore.server.addresses import LOOPBACK, Addresses
from agentcore.server.app import create_app
from agentcore.testing.hosting import HostPlan, ModuleLike, RunningHost, running_host


class ServerClient(TestClient[web.Request, web.Application]):
    """aiohttp's client for tests, which shows the server's API token, and knows the host behind it.

    Attributes:
        running: The host that the server serves.
    """

    __test__ = False

    def __init__(self, server: TestServer, host: RunningHost) -> None:
        token = host.host.state.token.get_secret_value()
        super().__init__(server, headers={"Authorization": f"Bearer {token}"})
        self.running = host


class ClientFactory(Protocol):
    """Starts servers; what the fixture `agentcore_client` gives. The arguments are those of `HostFactory`."""

    async def __call__(
        self,
        modules: Sequence[ModuleLike] = (),
        *,
        config: Mapping[str, Any] | None = None,
        roots: Sequence[Path] = (),
        environ: Mapping[str, str] | None = None,
        is_failure_expected: bool = False,
    ) -> ServerClient:
        """Start a host and a server on a free port of loopback, and give a client of it.

        Raises:
            ModuleNotReadyError: A module did not get ready, with its traceback.
            ConfigError: `config` is not valid.
        """
        ...


@asynccontextmanager
async def running_server(plan: HostPlan, folder: Path) -> AsyncIterator[ServerClient]:
    """Serve a host whose app.json and state lie in a folder."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        port: int = listener.getsockname()[1]
        async with running_host(plan, folder) as host:
            app = create_app(host.host, addresses=Addresses(port))
            server = TestServer(app, host=LOOPBACK, port=port, socket_factory=lambda *_: listener)
            async with ServerClient(server, host) as client:
                try:
                    yield client
                finally:
                    # the server would wait a minute for the answers of calls that the test left behind;
                    # chat ends before them, as at any end, so that its sessions go on after a restart
                    await app.dispatcher.parts.chat.close()
                    host.host.approvals.close()
                    host.host.calls.cut_all(ToolError("cancelled", "the test has ended"))
