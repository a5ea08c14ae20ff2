"""Chat: one message of a client, answered by the events of the turn; sessions and what was said in them."""

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from aiohttp import hdrs
from pydantic import BaseModel, ConfigDict, Field

from agentcore.api.errors import ToolError
from agentcore.chat import ChatBody
from agentcore.server.answer import Answer, Sent
from agentcore.server.exchange import Exchange
from agentcore.server.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.refusal import to_json
from agentcore.server.route_table import ServerRoute
from agentcore.store import ChatSessionRow


class SessionsQuery(BaseModel):
    """Which sessions are wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Annotated[str, Field(max_length=200, description="Stands in the title.")] = ""
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class NewSession(BaseModel):
    """A session to make."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent_id: Annotated[str, Field(max_length=64)] = "default"
    user_id: Annotated[str, Field(max_length=256)] = ""
    model: Annotated[str, Field(max_length=200)] = ""


class SessionView(BaseModel):
    """One chat session."""

    session_id: str
    user_id: str
    agent_id: str
    model: str
    title: str
    created_at_ms: int
    last_used_at_ms: int


class SessionsView(BaseModel):
    """Sessions, the last used first."""

    sessions: list[SessionView]


class StoppedTurns(BaseModel):
    """How many turns went on."""

    stopped: int


async def chat(exchange: Exchange) -> Sent:
    """Take a message and send the events of the turn; a client that goes away does not end it."""
    stream = RawStream(exchange.request, headers={hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"})

    def send(event_id: str, payload: Mapping[str, Any]) -> None:
        stream.write(b"id: %b\ndata: %b\n\n" % (event_id.encode(), to_json(payload)))

    await exchange.parts.chat.post(exchange.body, exchange.principal, send)
    await stream.drain()
    return stream.end()


async def list_sessions(exchange: Exchange) -> Answer:
    """Send the sessions of this credential."""
    query: SessionsQuery = exchange.query
    rows = await exchange.host.store.chats.sessions_of(exchange.principal.kind, text=query.q, limit=query.limit)
    return Answer(to_json({"sessions": [_view(row) for row in rows]}))


async def make_session(exchange: Exchange) -> Answer:
    """Make a session under an id of the server's."""
    body: NewSession = exchange.body
    exchange.parts.chat.settings.agent(body.agent_id)
    row = await exchange.host.store.chats.create(
        f"s_{secrets.token_hex(12)}",
        owner=exchange.principal.kind,
        user_id=body.user_id,
        agent_id=body.agent_id,
        model=body.model,
    )
    return Answer(to_json(_view(row)))


async def stop_session(exchange: Exchange) -> Answer:
    """End the turn of a session; what was said stays."""
    session_id = exchange.path_values["id"]
    row = await exchange.host.store.chats.find(session_id)
    if row is None or row.owner != exchange.principal.kind:
        raise ToolError("session_not_found", f"there is no session {session_id!r}", session_id=session_id)
    return Answer(to_json({"stopped": exchange.parts.chat.stop(session_id)}))


def _view(row: ChatSessionRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in SessionView.model_fields}


ROUTES = (
    ServerRoute(
        "POST",
        "/api/v1/agent/chat",
        chat,
        "Send a message, the result of a client tool, or the answer to a call. The answer is a stream of `data:` "
        "events: `content`, `tool_call`, `tool_result`, `error`, and at last `message` with `usage` and `waiting`. "
        "Their ids are those of `GET /api/events`, where a client that went away resumes.",
        action="call",
        body=ChatBody,
        content_type=EVENT_STREAM,
    ),
    ServerRoute("GET", "/api/sessions", list_sessions, "Chat sessions.", query=SessionsQuery, answer=SessionsView),
    ServerRoute(
        "POST",
        "/api/sessions",
        make_session,
        "Make a chat session.",
        action="call",
        body=NewSession,
        answer=SessionView,
    ),
    ServerRoute(
        "POST",
        "/api/sessions/{id}/stop",
        stop_session,
        "End the turn of a session now.",
        action="call",
        answer=StoppedTurns,
    ),
)
