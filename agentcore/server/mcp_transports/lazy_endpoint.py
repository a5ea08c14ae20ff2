"""The endpoint `/mcp`: imports its implementation at the first request, so that servers without MCP start as fast."""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING

from agentcore.core.calls.module_starts import wait_for_starts
from agentcore.core.core import Core
from agentcore.installing import pip_command
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp_connections import McpConnections

_IMPORTS_SECONDS = 20.0

if TYPE_CHECKING:
    from agentcore.server.mcp_transports.mcp_serving import McpServing


class McpEntrance:
    """The entry point for all MCP clients.

    Args:
        core: The core, whose tools are served.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._opening = asyncio.Lock()
        self._serving: McpServing | None = None

    async def answer_request(self, exchange: Exchange) -> Answer | Sent:
        """Answer one request of a client.

        Raises:
            Refusal: `mcp_not_installed`.
        """
        return await (await self.load_serving()).answer_request(exchange)

    async def load_serving(self) -> "McpServing":
        """Return the implementation, importing it if needed.

        Raises:
            Refusal: `mcp_not_installed`.
        """
        return self._serving or await self._open_serving()

    @property
    def connections(self) -> McpConnections:
        """Which clients are connected, and which were."""
        sessions = None if self._serving is None else self._serving.sessions
        return McpConnections() if sessions is None else McpConnections(sessions.connected, tuple(sessions.former))

    async def preload(self) -> None:
        """Import the implementation before the modules start, so that clients need not wait for these."""
        with suppress(Refusal):
            await self._open_serving(waits=False)

    async def close(self) -> None:
        """End all sessions and requests; may be called twice."""
        serving = self._serving
        self._serving = None
        if serving is not None:
            await serving.close()

    async def _open_serving(self, *, waits: bool = True) -> "McpServing":
        async with self._opening:
            if self._serving is None:
                if find_spec("mcp") is None:
                    raise Refusal(
                        HTTPStatus.NOT_IMPLEMENTED,
                        "mcp_not_installed",
                        f"the SDK of MCP is not installed here: {pip_command('agentcore-runtime[mcp]')}",
                    )
                # Python's imports are not safe in two threads at once where packages import each other, and modules
                # may import the SDK, too; see `preload`
                if waits:
                    await wait_for_starts(self._core.registry, self._core.events, _IMPORTS_SECONDS)
                with self._core.during_imports():
                    serving = await asyncio.to_thread(_import_serving)
                self._serving = await serving.open(self._core)
            return self._serving


def _import_serving() -> "type[McpServing]":
    from agentcore.server.mcp_transports.mcp_serving import McpServing  # noqa: PLC0415 - takes about a second, at the first request

    return McpServing
