"""Routes for MCP clients over HTTP, and for creating their keys."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field

from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictModel, WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer, Sent
from agentcore.server.route_table import ServerRoute
from agentcore.store.record.call_row import make_notice_row

MCP_PATH = "/mcp"
"""The path that clients connect to."""

_MAY_ASK = frozenset(("mcp", "token"))


class ConnectBody(StrictModel):
    """The client that is connected."""

    name: Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class ClientKey(WireModel):
    """Its key, given this once."""

    name: str
    key: str


async def serve_mcp(exchange: Exchange) -> Answer | Sent:
    """Answer an MCP client."""
    if exchange.principal.kind not in _MAY_ASK:
        message = "MCP clients show a key of their own, or the API token, as `Authorization: Bearer …`"
        raise ToolError("forbidden", message, principal=exchange.principal.kind)
    if exchange.request.method == "HEAD":
        raise Refusal(
            HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", "GET keeps a stream open; HEAD has no answer"
        )
    return await exchange.parts.serve_mcp(exchange)


async def connect_client(exchange: Exchange) -> Answer:
    """Create a key for an MCP client. It calls tools as a model does, so that its calls need approval."""
    body: ConnectBody = exchange.body
    core = exchange.core
    key = await core.store.client_keys.create_key(body.name, (), kind="mcp")
    by = exchange.principal
    row = make_notice_row("client_connected", name=body.name)
    core.store.record.append(row._replace(principal_kind=by.kind, principal_id=by.id))
    core.events.publish("approvers.changed", {"name": body.name, "outcome": "client_connected"})
    return Answer(to_json(ClientKey(name=body.name, key=key)), 201)


ROUTES = (
    *(
        ServerRoute(method, MCP_PATH, serve_mcp, summary, action="call")
        for method, summary in (
            ("POST", "One message of an MCP client (streamable HTTP)."),
            ("GET", "What an MCP client is told outside of its requests, as a stream."),
            ("DELETE", "End the session of an MCP client."),
        )
    ),
    ServerRoute(
        "POST",
        "/api/mcp/clients",
        connect_client,
        "Make a key for an MCP client, which calls tools as a model does. It is sent this once.",
        action="connect",
        body=ConnectBody,
        answer=ClientKey,
    ),
)
