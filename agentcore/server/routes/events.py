"""The route for events, as they happen."""

from dataclasses import replace
from typing import Annotated

from aiohttp import hdrs
from multidict import istr
from pydantic import Field

from agentcore.core.policy.authority import authorise, find_reach, owner_of
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.event_streams import EventFilter
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer, Sent
from agentcore.server.route_table import ServerRoute

_LAST_EVENT_ID = istr("Last-Event-ID")
_PATTERNS = 32
_OF_APPROVALS = ("approval.*", "policy.*", "stop.changed")
_OF_CHATS = ("settings.changed", "stop.changed", "tools.changed")
"""Events of no session that chat clients may receive: models and agents, tools, and the emergency stop."""


class EventsQuery(StrictModel):
    """Which events are wanted, and from where on."""

    types: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9_.*,]{1,1000}$", description="Types with commas between; a final `*` stands for any."
        ),
    ] = None
    session_id: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")] = None
    after: Annotated[str | None, Field(max_length=64, description="Id of the last event that the client has.")] = None


async def stream_events(exchange: Exchange) -> Answer | Sent:
    """Send events until the client disconnects or the server stops."""
    query: EventsQuery = exchange.query
    types = tuple(sorted(set(query.types.split(",")) - {""})) if query.types else ()
    if len(types) > _PATTERNS:
        raise Refusal(400, "invalid_query", f"types: at most {_PATTERNS} patterns", limit=_PATTERNS)
    requested = await _restrict_filter(exchange, EventFilter(types, query.session_id))
    if exchange.request.method == "HEAD":
        return Answer(b"", content_type=EVENT_STREAM)
    after = exchange.request.headers.get(_LAST_EVENT_ID) or query.after
    stream = RawStream(exchange.request, headers={hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"})
    await exchange.parts.events.serve_reader(stream, exchange.connection, requested, after)
    return stream.end()


async def _restrict_filter(exchange: Exchange, wanted: EventFilter) -> EventFilter:
    """Restrict a filter to the events that the principal may receive.

    These are all events, those of its own sessions, or those of what waits for the user.

    Raises:
        ToolError: `forbidden`: The one requested session belongs to another principal.
    """
    principal = exchange.principal
    chats = exchange.core.store.chats
    if find_reach(principal, "follow") == "all":
        return wanted
    of_approvals = _OF_APPROVALS if find_reach(principal, "watch") == "all" else ()
    if find_reach(principal, "follow") is None:
        return replace(wanted, allowed=of_approvals)
    if wanted.session_id is not None and not of_approvals:
        session = await chats.find_session(wanted.session_id)
        authorise(principal, "follow", "" if session is None else session.owner)
    is_own = await chats.owners.watch_owner(owner_of(principal))
    return replace(wanted, allowed=(*of_approvals, *_OF_CHATS), is_own=is_own)


ROUTES = (
    ServerRoute(
        "GET",
        "/api/events",
        stream_events,
        "Events as they happen: `{id, type, time, sessionId?, …}`; to a paired client those of its own sessions, of "
        "what waits for approval, or both, as its scopes say. With `Last-Event-ID` or `after` the stream begins "
        "with those that were missed, or with `events.reset` when they cannot be given any more.",
        action="watch",
        keeps_to_own=True,
        query=EventsQuery,
        content_type=EVENT_STREAM,
        is_for_extensions=True,
    ),
)
