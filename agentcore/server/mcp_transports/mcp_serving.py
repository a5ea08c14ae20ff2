"""MCP over HTTP and pipes, assembled at the first request."""

import asyncio
from contextlib import suppress
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from agentcore.api import Principal
from agentcore.config.loading import AppConfig
from agentcore.core.core import Core
from agentcore.encoding import to_json
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.request_handler import McpEndpoint
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp_transports.callers import caller_on_pipe
from agentcore.server.mcp_transports.client_sessions import McpSessions
from agentcore.server.mcp_transports.greeting import PipeConnectRequest
from agentcore.server.mcp_transports.pipe import Channel, Pipe
from agentcore.server.mcp_transports.stateless import Stateless
from agentcore.server.mcp_transports.streamable import VERSION_HEADER, Streamable


class McpServing:
    """Passes a request to the implementation of its revision.

    Args:
        config: app.json, which narrows what clients may use.
        door: Answers clients.
        sessions: Sessions that started with a handshake.
        stateless: Serves the other clients.
    """

    def __init__(self, config: AppConfig, door: McpEndpoint, sessions: McpSessions, stateless: Stateless) -> None:
        self._config = config
        self._door = door
        self.sessions = sessions
        self._stateless = stateless
        self._streamable = Streamable(sessions)

    @classmethod
    async def open(cls, core: Core) -> "McpServing":
        """Start to serve a core's tools."""
        door = McpEndpoint(core, _caller_of)
        sessions = McpSessions(
            door,
            core.store.mcp_sessions,
            events=core.events,
            approvals=core.approvals,
            end_session=core.end_session,
        )
        return cls(core.config, door, sessions, Stateless(door))

    async def close(self) -> None:
        """End all sessions and requests."""
        await self.sessions.close()
        await self._door.close()

    async def serve_pipe(
        self,
        principal: Principal,
        greeting: PipeConnectRequest,
        approval_url: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Serve a client on a pipe until that closes, which ends its session, unless the server stops.

        Args:
            principal: The client.
            greeting: Its first line.
            approval_url: Where the user decides on its calls.
            reader: Receives what the client writes.
            writer: Sends to the client, first the session id.
        """
        channel = Channel(writer)
        caller = caller_on_pipe(self._config, principal, greeting, approval_url, channel.mark_waiting)
        session = await self.sessions.adopt_session(caller, greeting.session)
        channel.send(to_json({"session": session.caller.session_id}))
        pipe = Pipe(session, self._door, reader, channel)
        try:
            with suppress(ConnectionError):
                await pipe.serve()
        except asyncio.CancelledError:  # the server stops (the next one continues the session), or the key was revoked
            session.is_held = False
            session.end()
            raise
        await self.sessions.end(session.caller.session_id)

    async def answer_request(self, exchange: Exchange) -> Answer | Sent:
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
