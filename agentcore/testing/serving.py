"""The real server on loopback, for tests of what a module does over HTTP."""

import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from agentcore.errors import ToolError
from agentcore.server.addresses import LOOPBACK, Addresses, view_addresses
from agentcore.server.app import create_app, create_approval_app, create_apps_app
from agentcore.testing.hosting import HostPlan, ModuleLike, RunningHost, running_host


class ServerClient(TestClient[web.Request, web.Application]):
    """aiohttp's client for tests, which uses the server's API token, and has access to the core behind it.

    Attributes:
        running: The core that the server serves.
        approval_address: The origin of the approval view, without a final slash.
        approval_app: The server of the approval view, which has its own connections.
    """

    __test__ = False

    def __init__(
        self,
        server: TestServer,
        host: RunningHost,
        approval_address: str = "",
        approval_app: web.Application | None = None,
    ) -> None:
        token = host.host.state.token.get_secret_value()
        super().__init__(server, headers={"Authorization": f"Bearer {token}"})
        self.running = host
        self.approval_address = approval_address
        self.approval_app = approval_app


class ClientFactory(Protocol):
    """Starts servers; the value of the fixture `agentcore_client`. The arguments are those of `HostFactory`."""

    async def __call__(
        self,
        modules: Sequence[ModuleLike] = (),
        *,
        config: Mapping[str, Any] | None = None,
        roots: Sequence[Path] = (),
        environ: Mapping[str, str] | None = None,
        is_failure_expected: bool = False,
    ) -> ServerClient:
        """Start a core and a server on a free port of loopback, and return a client of it.

        Raises:
            ModuleNotReadyError: A module failed to start, with its traceback.
            ConfigError: `config` is not valid.
        """
        ...


@asynccontextmanager
async def running_server(
    plan: HostPlan, folder: Path, *, ports: tuple[int, int] = (0, 0)
) -> AsyncIterator[ServerClient]:
    """Serve a core whose app.json and state are in a folder.

    Args:
        plan: The configuration of the core.
        folder: Its folder; serving the same folder again is a restart.
        ports: Of the page and of the approval view; 0: any that is free.
    """
    with (
        socket.create_server((LOOPBACK, ports[0])) as listener,
        socket.create_server((LOOPBACK, ports[1])) as second,
        socket.create_server((LOOPBACK, 0)) as third,
    ):
        async with running_host(plan, folder) as host:
            names = host.host.config.server
            page = _create_addresses(listener, names.hosts)
            approval = _create_addresses(second, names.approval_hosts)
            apps = view_addresses(third.getsockname()[1], names.apps_hosts)
            app = create_app(host.host, addresses=page, approval=approval, apps=apps)
            await app.dispatcher.parts.late_chat.open_if_awaited()
            server = _create_test_server(app, listener)
            approval_app = create_approval_app(app, approval)
            async with (
                _create_test_server(approval_app, second),
                _create_test_server(create_apps_app(app, apps), third),
                ServerClient(server, host, approval.base_url, approval_app) as client,
            ):
                try:
                    yield client
                finally:
                    # the server would wait a minute for the answers of calls that the test left behind;
                    # the chat ends before them, as at any end, so that its sessions can continue after a restart
                    await app.dispatcher.parts.late_chat.close()
                    host.host.approvals.close()
                    host.host.calls.cancel_all_calls(ToolError("cancelled", "the test has ended"))


def _create_addresses(listener: socket.socket, hosts: tuple[str, ...]) -> Addresses:
    return Addresses(listener.getsockname()[1], hosts)


def _create_test_server(app: web.Application, listener: socket.socket) -> TestServer:
    port: int = listener.getsockname()[1]
    return TestServer(app, host=LOOPBACK, port=port, socket_factory=lambda *_: listener)
