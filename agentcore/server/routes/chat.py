"""The chat route for any client: a message, answered with the events of the turn."""

from collections.abc import Mapping
from typing import Any

from aiohttp import hdrs

from agentcore.chat.client_messages import ChatBody
from agentcore.core.policy.authority import authorise
from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.response import Sent
from agentcore.server.route_table import ServerRoute


async def stream_turn(exchange: Exchange) -> Sent:
    """Accept a message and send the events of the turn; the turn continues if the client disconnects."""
    authorise(exchange.principal, "see_waiting" if exchange.body.role == "function" else "converse")
    stream = RawStream(exchange.request, headers={hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"})

    def send(event_id: str, payload: Mapping[str, Any]) -> None:
        stream.write(b"id: %b\ndata: %b\n\n" % (event_id.encode(), to_json(payload)))

    await exchange.parts.chat.client_requests.handle_request(exchange.body, exchange.principal, send)
    await stream.drain()
    return stream.end()


ROUTES = (
    ServerRoute(
        "POST",
        "/api/v1/agent/chat",
        stream_turn,
        "Send a message, the result of a client tool, or the answer to a call. The answer is a stream of `data:` "
        "events: `content`, `tool_call`, `tool_result`, `error`, and at last `message` with `usage` and `waiting`. "
        "Their ids are those of `GET /api/events`, where a client that went away resumes. A paired client talks "
        "in sessions that it made (scope `chat`), or answers calls alone (role `function`, scope `approve`).",
        action="see_waiting",
        keeps_to_own=True,
        body=ChatBody,
        content_type=EVENT_STREAM,
        is_for_extensions=True,
    ),
)
