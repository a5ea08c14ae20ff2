"""One request on its way through the server, as handlers see it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from agentcore.api import Principal
from agentcore.chat import Chat
from agentcore.core import Core
from agentcore.core.modules import ModuleRoute
from agentcore.server.addresses import Addresses
from agentcore.server.gate import Gate
from agentcore.server.http.bounds import Hits, TimeLimits
from agentcore.server.http.connection import Connection
from agentcore.server.http.event_streams import EventStreams
from agentcore.server.http.live_connections import LiveConnections
from agentcore.server.http.reader import BodyReader
from agentcore.server.http.response import Answer, Sent
from agentcore.server.live_control import LiveControl
from agentcore.server.modules.enabling import ModuleSwitch
from agentcore.server.modules.tool_views import ToolViews

Answering = Callable[["Exchange"], Awaitable[Answer | Sent]]
"""Answers one request."""

Describe = Callable[[Iterable[ModuleRoute]], Awaitable[dict[str, Any]]]
"""Gives the description of the API (OpenAPI), with the routes that modules serve now."""


@dataclass(frozen=True, slots=True)
class ServerParts:
    """What the handlers of one server share.

    Args:
        host: Carries out what is asked.
        addresses: What the origin answers to: that of the page, or that of the approval view.
        counterpart: The addresses of the other one of the two; None: it is not served.
        gate: Decides who comes in.
        reader: Reads bodies.
        events: Event streams of pages.
        switch: Turns modules on and off.
        chat: Chat sessions.
        connections: How many connections are open.
        live_control: Which pages may act through modules' own routes.
        live_connections: Who is being served on which connection.
        serve_mcp: Answers clients of MCP.
        views: The views of tools, by the addresses that they have at an origin of their own.
        apps: The addresses of that origin; None: it is not served.
        streams: Ends the open streams and WebSockets of modules, one by one.
        cache: What was made once: the description of the API, hashes of the list of tools.
        limits: Time limits.
        hits: Counts the bounds that were hit.
        describe: Describes the API that this origin serves.
    """

    core: Core
    addresses: Addresses
    counterpart: Addresses | None
    gate: Gate
    reader: BodyReader
    events: EventStreams
    switch: ModuleSwitch
    chat: Chat
    limits: TimeLimits
    hits: Hits
    describe: Describe
    connections: Callable[[], int]
    live_control: LiveControl
    live_connections: LiveConnections
    serve_mcp: Answering
    views: ToolViews
    apps: Addresses | None
    streams: set[Callable[[], None]] = field(default_factory=set)
    cache: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Exchange:
    """One request that has passed the gate.

    Args:
        parts: The server's parts.
        request: aiohttp's request.
        principal: Who asks.
        path: The path without the query, as it was sent.
        path_values: Values of the placeholders in the route's path.
        raw_query: The query as it was sent.
        query: The query as the route's model, or None.
        body: The body as the route's model, or None.
    """

    parts: ServerParts
    request: web.BaseRequest
    principal: Principal
    path: str
    path_values: dict[str, str]
    raw_query: str = ""
    query: Any = None
    body: Any = None

    @property
    def core(self) -> Core:
        """Carries out what is asked."""
        return self.parts.core

    @property
    def connection(self) -> Connection:
        """The connection that it came by."""
        connection = self.request.protocol
        assert isinstance(connection, Connection)  # noqa: S101 - the application makes no others
        return connection
