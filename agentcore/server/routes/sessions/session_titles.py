"""The route for the titles of chat sessions, for clients that may see no more of them."""

from typing import Annotated

from pydantic import Field

from agentcore.chat.chat_limits import SESSIONS_LISTED
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictWireModel, WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


class NamesQuery(StrictWireModel):
    """Which names are wanted."""

    limit: Annotated[int, Field(ge=1, le=SESSIONS_LISTED)] = 100
    before: Annotated[str | None, Field(max_length=64, description="As in the list of sessions.")] = None


class SessionName(WireModel):
    """A session by what a person calls it; the title is empty before the first message. Time in ms since 1970."""

    session_id: str
    title: str
    last_used_at: int
    is_running: bool


class SessionNames(WireModel):
    """Sessions, the last used first."""

    sessions: list[SessionName]
    has_more: bool


async def list_names(exchange: Exchange) -> Answer:
    """Send the titles of all sessions, from which the user chooses one, but none of their messages."""
    query: NamesQuery = exchange.query
    found = await exchange.parts.chat.sessions.list_sessions(text="", limit=query.limit, before=query.before)
    names = [SessionName.model_validate(session, from_attributes=True) for session in found.sessions]
    return Answer(to_json(SessionNames(sessions=names, has_more=found.has_more)))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/sessions/names",
        list_names,
        "Titles of all chat sessions, the last used first, for a person to choose one that something is shared with.",
        action="share",
        query=NamesQuery,
        answer=SessionNames,
        is_for_extensions=True,
    ),
)
