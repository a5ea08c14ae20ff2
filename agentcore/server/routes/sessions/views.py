"""Routes for the views of tools in a chat: their addresses, and the calls that they make."""

from typing import Annotated, Any

from aiohttp import hdrs
from pydantic import BaseModel, ConfigDict, Field

from agentcore.api import Principal, ToolView
from agentcore.chat.session.session_view import SessionDetail
from agentcore.core.calls.call import CallRequest
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.addresses import counterpart_url
from agentcore.server.body_models import WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer, Sent
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.tools import CallEnvelope, call_with_events


class ToolViewAnswer(WireModel):
    """Where the view of a tool is, and what its frame is to have.

    Args:
        address: Of its frame, at the origin of views.
        permissions: What it may ask the browser for.
        has_border: Whether it wants a border around it; null: as the chat likes.
        calls: The tools that it may call: the names that they have here, by those that it knows.
    """

    address: str
    permissions: list[str]
    has_border: bool | None
    calls: dict[str, str]


class ViewCallBody(BaseModel, defer_build=True):
    """A call of a view's."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(max_length=128, description="The tool, as views of its module know it.")]
    arguments: dict[str, Any] = Field(default_factory=dict)


async def show_view(exchange: Exchange) -> Answer:
    """Send the address of a tool's view."""
    shown, view = _tool_with_view(exchange)
    await _get_session(exchange)
    path = exchange.parts.views.path_of(shown.definition)
    apps = exchange.parts.apps
    if path is None or apps is None:
        raise ToolError("view_not_found", "this server shows no views of tools", tool=shown.definition.name)
    base = counterpart_url(exchange.parts.addresses, exchange.request.headers[hdrs.HOST], apps)
    answer = ToolViewAnswer(
        address=base + path,
        permissions=list(view.permissions),
        has_border=view.has_border,
        calls={name: tool.definition.name for name, tool in _list_callable_tools(exchange, shown).items()},
    )
    return Answer(to_json(answer.model_dump(by_alias=True)))


async def call_from_view(exchange: Exchange) -> Sent:
    """Run a call of a view, with the view as principal: it may do what a model may, and no more."""
    body: ViewCallBody = exchange.body
    shown, _ = _tool_with_view(exchange)
    session = await _get_session(exchange)
    callable_tools = _list_callable_tools(exchange, shown)
    if body.name not in callable_tools:
        known = ", ".join(sorted(callable_tools)) or "none"
        message = f"views of {shown.module.name} cannot call {body.name!r}; they can call: {known}"
        raise ToolError("unknown_tool", message, tool=body.name)
    request = CallRequest(
        callable_tools[body.name].definition.name,
        body.arguments,
        Principal("view", shown.definition.name),
        session_id=session.session_id,
        mode=session.mode,
    )
    return await call_with_events(exchange, request)


def _tool_with_view(exchange: Exchange) -> tuple[RegisteredTool, ToolView]:
    name = exchange.path_values["tool"]
    tool = exchange.core.registry.own.get(name)
    if tool is None or not isinstance(tool.definition.view, ToolView):
        raise ToolError("view_not_found", f"no tool {name[:100]!r} with a view is offered now", tool=name[:100])
    return tool, tool.definition.view


def _list_callable_tools(exchange: Exchange, shown: RegisteredTool) -> dict[str, RegisteredTool]:
    """Return the tools that a tool's view may call: those of its module that have a name for views."""
    return {
        tool.definition.in_views: tool
        for tool in exchange.core.registry.own.values()
        if tool.module is shown.module and tool.definition.in_views is not None
    }


async def _get_session(exchange: Exchange) -> SessionDetail:
    return await exchange.parts.chat.sessions.describe_session(exchange.path_values["session_id"])


ROUTES = (
    ServerRoute(
        "GET",
        "/api/sessions/{session_id}/views/{tool}",
        show_view,
        "Where the view of a tool is that people are shown in a chat.",
        answer=ToolViewAnswer,
    ),
    ServerRoute(
        "POST",
        "/api/sessions/{session_id}/views/{tool}/call",
        call_from_view,
        "Call a tool for a view of its module, under the view's name. Rules and approvals hold as for a model. The "
        "answer is a stream of events, as that of a tool's call.",
        action="call",
        body=ViewCallBody,
        answer=CallEnvelope,
    ),
)
