"""Routes for tools: the list, and calling one."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from aiohttp import hdrs
from pydantic import BaseModel, ConfigDict, Field

from agentcore.core.calls.call import CallRequest
from agentcore.core.modules.module_record import ToolFormat
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream, encode_event
from agentcore.server.http.response import JSON, Answer, LateAnswer, Sent
from agentcore.server.http.server_limits import NUMBER_MAX
from agentcore.server.http.unread_answers import room_for_answer
from agentcore.server.modules.translation_views import TextsView, texts_of
from agentcore.server.route_table import ServerRoute

HostName = Annotated[str, Field(max_length=40, pattern=r"^([a-z][a-z0-9_-]*)?$")]


class ToolsQuery(StrictModel):
    """The form in which tools are wanted."""

    format: ToolFormat = "agentcore"
    host: Annotated[
        HostName,
        Field(description="As they are where this host is chosen: its own, and those of others that it has not."),
    ] = ""


class CallBody(BaseModel, defer_build=True):
    """One call of a tool."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: dict[str, Any] = Field(default_factory=dict, description="What the tool's schema asks for.")
    session_id: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = None
    timeout_ms: Annotated[int | None, Field(ge=1, le=NUMBER_MAX, description="Time limit of queue and execution.")] = (
        None
    )
    resource_id: Annotated[str | None, Field(max_length=256, description="The resource to act on.")] = None
    call_id: Annotated[
        str | None, Field(max_length=64, description="Id of a call that waited for approval and is sent again.")
    ] = None
    host: Annotated[
        HostName,
        Field(description="The host on another machine that it goes to; else where its resource, or its session, is."),
    ] = ""


class CompletionBody(StrictModel):
    """An argument that is being typed."""

    argument: Annotated[str, Field(max_length=64)]
    value: Annotated[str, Field(max_length=1000, description="What is typed of it.")] = ""
    arguments: dict[str, str] = Field(
        default_factory=dict, max_length=100, description="The others, as far as they are known."
    )


class CompletedValues(BaseModel, defer_build=True):
    """What it can be, the best first; at most 100."""

    values: list[str]


class ErrorObject(BaseModel, defer_build=True):
    """Why something failed, and what to do."""

    type: str
    message: str
    context: dict[str, Any]
    retryable: bool


class CallEnvelope(BaseModel, defer_build=True):
    """How a call ended: `content` and `data` of a success, `error` of a failure; `host`: the host that ran it."""

    ok: bool
    callId: str  # noqa: N815 - the name on the wire
    resourceId: str | None = None  # noqa: N815
    host: str | None = None
    content: list[dict[str, Any]] | None = None
    data: Any = None
    truncated: Literal[True] | None = None
    error: ErrorObject | None = None


_TOLD = frozenset(("accepted", "progress", "approval"))


async def list_tools(exchange: Exchange) -> Answer:
    """Send the list, which the registry stores encoded, or report that the client's copy is current."""
    registry = exchange.core.registry
    query = exchange.query
    if query.host and not registry.knows_host(query.host):
        raise registry.host_not_found(query.host)
    body = registry.encode_tools(query.format, query.host)
    etag = _find_etag(exchange, f"{query.format}:{query.host}", body)
    if exchange.request.headers.get(hdrs.IF_NONE_MATCH) == etag:
        return Answer(b"", 304, JSON, {hdrs.ETAG: etag, hdrs.CACHE_CONTROL: "no-cache"})
    return Answer(body, 200, JSON, {hdrs.ETAG: etag, hdrs.CACHE_CONTROL: "no-cache"})


async def call_tool(exchange: Exchange) -> Answer | Sent:
    """Run one call. If the client disconnects, the call continues; `POST /api/calls/{id}/cancel` ends it."""
    body: CallBody = exchange.body
    request = CallRequest(
        exchange.path_values["name"],
        body.arguments,
        exchange.principal,
        body.session_id,
        body.resource_id,
        body.timeout_ms,
        body.call_id,
        host=body.host,
    )
    accept = exchange.request.headers.get(hdrs.ACCEPT)
    if accept is not None and EVENT_STREAM in accept:
        return await call_with_events(exchange, request)
    outcome = await exchange.core.run_call(request)
    return LateAnswer(outcome.encode_envelope)


async def call_with_events(exchange: Exchange, request: CallRequest) -> Sent:
    """Send the call's progress as events, and the envelope as the last one, `result`."""
    request.waits_for_approval = True
    stream = RawStream(exchange.request)

    def notify(kind: str, told: Mapping[str, Any]) -> None:
        # newer progress replaces older
        if kind in _TOLD and not (kind == "progress" and stream.is_behind):
            stream.write(encode_event(kind, to_json(told)))

    outcome = await exchange.core.run_call(request, notify)
    async with room_for_answer(exchange.request):
        stream.write(encode_event("result", outcome.encode_envelope()))
    await stream.drain()
    return stream.end()


async def complete_argument(exchange: Exchange) -> Answer:
    """Send possible values of an argument; none if none are known."""
    core = exchange.core
    body = exchange.body
    tool = core.registry.tools.get(exchange.path_values["name"])
    if tool is None:
        return Answer(to_json({"values": []}))
    found = await core.complete_argument(tool, body.argument, body.value, body.arguments)
    return Answer(to_json({"values": list(found.values)}))


def _find_etag(exchange: Exchange, which: str, body: bytes) -> str:
    key = f"etag:{which}:{exchange.core.registry.version}"
    etag = exchange.parts.cache.get(key)
    if etag is None:
        for old in [name for name in exchange.parts.cache if name.startswith(f"etag:{which}:")]:
            del exchange.parts.cache[old]
        etag = exchange.parts.cache[key] = f'"{sha256(body).hexdigest()[:32]}"'.encode()
    return etag.decode()


async def show_texts(exchange: Exchange) -> Answer:
    """Send the texts of tools in other languages, and example calls."""
    return Answer(to_json(texts_of(exchange.core.registry)))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/tools",
        list_tools,
        "All tools that can be called, in agentcore's form, or as providers of models and MCP clients take them. Those "
        "of a host on another machine say so in `host`, and in `module`, which is `HOST/NAME`.",
        action="follow",
        keeps_to_own=True,
        query=ToolsQuery,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        "/api/tools/texts",
        show_texts,
        "What people read of the tools in other languages than English, and calls to try first.",
        action="follow",
        keeps_to_own=True,
        answer=TextsView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/tools/{name}/call",
        call_tool,
        "Call a tool. The status is 200 however the call ends. With `Accept: text/event-stream` the answer is a "
        "stream of the events `accepted` (with the `callId` to cancel it by), `progress` and `approval`, and at last "
        "`result` with the envelope. A client that goes away does not end the call.",
        action="call",
        body=CallBody,
        answer=CallEnvelope,
    ),
    ServerRoute(
        "POST",
        "/api/tools/{name}/complete",
        complete_argument,
        "What an argument of a tool can be, while it is typed: what its schema names, else what its module says within "
        "2 s. No call is made. `values` is empty where nothing is known.",
        action="call",
        body=CompletionBody,
        answer=CompletedValues,
    ),
)
