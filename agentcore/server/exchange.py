"""One request on its way through the server, as handlers see it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from agentcore.api import Principal
from agentcore.core.core import Core
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.late_dataclasses import dataclass
from agentcore.server.addresses import Addresses
from agentcore.server.gate import Gate
from agentcore.server.http.connection import Connection
from agentcore.server.http.event_streams import EventStreams
from agentcore.server.http.live_connections import LiveConnections
from agentcore.server.http.reader import BodyReader
from agentcore.server.http.response import Answer, Sent
from agentcore.server.http.server_limits import Hits, TimeLimits
from agentcore.server.late_chat import LateChat
from agentcore.server.live_control import LiveControl
from agentcore.server.mcp_connections import McpConnections
from agentcore.server.modules.enabling import ModuleSwitch
from agentcore.server.modules.host_views import HostViews
from agentcore.server.modules.module_view import ModuleViews
from agentcore.server.modules.tool_views import ToolViews

if TYPE_CHECKING:
    from agentcore.chat.chat import Chat

Answering = Callable[["Exchange"], Awaitable[Answer | Sent]]
"""Answers one request."""

Describe = Callable[[Iterable[ModuleRoute]], Awaitable[dict[str, Any]]]
"""Returns the description of the API (OpenAPI), including the routes that modules serve now."""


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Objects that the handlers of one server share.

    Args:
        core: Carries out calls.
        addresses: Addresses of this origin, which is the page, the approval view or tool views.
        counterpart: Addresses of the approval view, if this origin is the page, else of the page; None: not served.
        gate: Authenticates requests.
        reader: Reads bodies.
        events: Event streams of pages.
        switch: Enables and disables modules.
        module_views: Describes modules.
        host_views: Describes hosts.
        late_chat: Creates `chat`.
        connections: Returns the number of open connections.
        live_control: Decides which pages may act through modules' own routes.
        live_connections: Tracks which principal is served on which connection.
        serve_mcp: Answers MCP clients.
        find_mcp_connections: Returns which MCP clients are connected, and which were.
        views: The views of tools, by their addresses at their own origin.
        apps: The addresses of that origin; None: it is not served.
        streams: Functions that close the open streams and WebSockets of modules, one each.
        cache: Values that are computed once: the description of the API, hashes of the tool list.
        limits: Time limits.
        hits: Counts how often limits were hit.
        describe: Describes the API that this origin serves.
    """

    core: Core
    addresses: Addresses
    counterpart: Addresses | None
    gate: Gate
    reader: BodyReader
    events: EventStreams
    switch: ModuleSwitch
    module_views: ModuleViews
    host_views: HostViews
    late_chat: LateChat
    limits: TimeLimits
    hits: Hits
    describe: Describe
    connections: Callable[[], int]
    live_control: LiveControl
    live_connections: LiveConnections
    serve_mcp: Answering
    find_mcp_connections: Callable[[], McpConnections]
    views: ToolViews
    apps: Addresses | None
    streams: set[Callable[[], None]] = field(default_factory=set)
    cache: dict[str, bytes] = field(default_factory=dict)

    @property
    def chat(self) -> "Chat":
        """Chat sessions."""
        return self.late_chat.open()


@dataclass(slots=True)
class Exchange:
    """One request that passed the gate.

    Args:
        parts: The shared objects of the server.
        request: aiohttp's request.
        principal: Principal that sent the request.
        path: The path without the query, as sent.
        path_values: Values of the placeholders in the route's path.
        raw_query: The query as sent.
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
        """The core, which carries out calls."""
        return self.parts.core

    @property
    def connection(self) -> Connection:
        """The connection on which the request arrived."""
        connection = self.request.protocol
        assert isinstance(connection, Connection)  # noqa: S101 - the application makes no others
        return connection
