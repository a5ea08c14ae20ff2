"""Routes for clients with a key: which are connected, since when, and what they call."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from agentcore.config.app_json import ClientConfig
from agentcore.core.core import Core
from agentcore.encoding import to_json
from agentcore.server.body_models import WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.mcp_connections import McpConnections
from agentcore.server.mcp_transports.mcp_routes import MCP_PATH
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.client_keys import KnownClient
from agentcore.store.mcp_sessions import McpSessionRow

_TEXT_CHARS = 200
_FORMER = 3


class ConnectionView(WireModel):
    """A connection of a client, by what it says of itself; one that has ended is known until the server ends."""

    session_id: str
    program: Annotated[str, Field(description="Its name, as it says it.")]
    version: str
    revision: Annotated[str, Field(description="The revision of MCP that was agreed on.")]
    last_used_at: Annotated[int, Field(description="Exact to the minute.")]
    connected: Annotated[bool, Field(description="True while the client is there: listening, waiting or just asking.")]


class BoundsView(WireModel):
    """What `clients` of app.json says of a client; `mode` is null where that of everybody counts."""

    tools: list[str]
    mode: str | None
    calls_in_flight: int


class ClientStateView(WireModel):
    """A client; times in milliseconds since 1970. What calls tools over MCP is of kind `mcp`, others were paired."""

    name: str
    kind: str
    scopes: list[str]
    created_at: int
    last_used_at: int
    calls: Annotated[int, Field(description="Calls in the record.")]
    running: int
    waiting: Annotated[int, Field(description="Calls that a person is asked about.")]
    connected: Annotated[bool, Field(description="True while one of its connections is.")]
    connections: list[ConnectionView]
    bounds: Annotated[BoundsView | None, Field(description="Null: app.json says nothing of it.")]


class ClientsView(WireModel):
    """All clients, those that were used last first; `address` is what a client of MCP is to connect to."""

    clients: list[ClientStateView]
    address: str


async def list_clients(exchange: Exchange) -> Answer:
    """Send the clients."""
    core = exchange.core
    calls, rows = await asyncio.gather(core.store.record.count_calls_by_client(), core.store.mcp_sessions.load_all())
    on_the_way = Counter(call.request.principal.name for call in core.calls.in_flight.values())
    waiting = Counter(request.principal.name for request in core.approvals.waiting)
    now = exchange.parts.find_mcp_connections()
    found = []
    for known in core.store.client_keys.list_clients():
        name = known.principal.name
        counted, last_call_at = calls.get(known.name, (0, 0)) if known.kind == "mcp" else (0, 0)
        own = _describe_connections(name, rows, now)
        used = max(known.last_used_at_ms, last_call_at, *(each.last_used_at for each in own))
        running = on_the_way[name] - waiting[name]
        found.append(
            ClientStateView(
                name=known.name,
                kind=known.kind,
                scopes=sorted(known.scopes),
                created_at=known.created_at_ms,
                last_used_at=used,
                calls=counted,
                running=max(0, running),
                waiting=waiting[name],
                connected=any(each.connected for each in own),
                connections=own,
                bounds=_describe_limits(core, known),
            )
        )
    found.sort(key=lambda client: -client.last_used_at)
    address = exchange.parts.addresses.base_url + MCP_PATH
    return Answer(to_json(ClientsView(clients=found, address=address)))


def _describe_limits(core: Core, known: KnownClient) -> BoundsView | None:
    config: ClientConfig | None = core.config.clients.get(known.name) if known.kind == "mcp" else None
    if config is None:
        return None
    return BoundsView(tools=list(config.tools), mode=config.mode, calls_in_flight=config.calls_in_flight)


def _describe_connections(client: str, rows: Sequence[McpSessionRow], now: McpConnections) -> list[ConnectionView]:
    """Describe a client's connections: those that are there first, then those whose session has not ended."""
    own = [_describe_connection(row, row.session_id in now.connected) for row in rows if row.principal == client]
    former = [
        ConnectionView(
            session_id=each.session_id,
            program=each.program[:_TEXT_CHARS],
            version=each.version[:_TEXT_CHARS],
            revision=each.revision,
            last_used_at=each.ended_at_ms,
            connected=False,
        )
        for each in now.former
        if each.principal == client
    ]
    return sorted([*own, *former[:_FORMER]], key=lambda each: (not each.connected, -each.last_used_at))


def _describe_connection(row: McpSessionRow, is_connected: bool) -> ConnectionView:
    handshake = json.loads(row.handshake)
    client = handshake.get("client", {}).get("clientInfo", {})
    return ConnectionView(
        session_id=row.session_id,
        program=str(client.get("title") or client.get("name") or "")[:_TEXT_CHARS],
        version=str(client.get("version") or "")[:_TEXT_CHARS],
        revision=str(handshake.get("version", "")),
        last_used_at=row.last_used_at_ms,
        connected=is_connected,
    )


ROUTES = (
    ServerRoute(
        "GET",
        "/api/clients",
        list_clients,
        "Clients that hold a key: since when, what they have open and call, and what app.json bounds them to.",
        answer=ClientsView,
    ),
)
