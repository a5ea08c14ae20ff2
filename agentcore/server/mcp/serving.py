"""All of MCP over HTTP, put together at the first request."""

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from agentcore.host import Host
from agentcore.mcp import Caller, Door
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp.sessions import McpSessions
from agentcore.server.mcp.stateless import Stateless
from agentcore.server.mcp.streamable import VERSION_HEADER, Streamable


class McpServing:
    """Sends a request where its revision is served.

    Args:
        door: Answers clients.
        sessions: Those that began with a handshake.
        stateless: Serves the others.
    """

    def __init__(self, door: Door, sessions: McpSessions, stateless: Stateless) -> None:
        self._door, self.sessions, self._stateless = door, sessions, stateless
        self._streamable = Streamable(sessions)

    @classmethod
    async def open(cls, host: Host) -> "McpServing":
        """Begin to serve a host's tools."""
        door = Door(host, _caller_of)
        return cls(door, McpSessions(host, door), Stateless(door))

    async def close(self) -> None:
        """End what goes on."""
        await self.sessions.close()
        await self._door.close()

    async def answer(self, exchange: Exchange) -> Answer | Sent:
        """Answer one request."""
        version = exchange.request.headers.get(VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return await self._stateless.post(exchange)
        match exchange.request.method:
            case "POST":
                return await self._streamable.post(exchange)
            case "DELETE":
                return await self._streamable.delete(exchange)
            case _:
                return await self._streamable.get(exchange)


def _caller_of(ctx: ServerRequestContext[Any, Any]) -> Caller:
    caller = ctx.request
    assert isinstance(caller, Caller)  # noqa: S101 - both transports put it there
    return caller
