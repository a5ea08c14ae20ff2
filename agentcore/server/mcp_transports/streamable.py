"""Streamable HTTP of the revisions from 2025-03-26 to 2025-11-25: POST, GET and DELETE at one address.

A request is answered with JSON if there are no messages before the result, else with an event stream.
Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

import asyncio
from http import HTTPStatus
from typing import Any

from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp_transports.client_session import McpSession
from agentcore.server.mcp_transports.client_sessions import McpSessions
from agentcore.server.mcp_transports.mcp_messages import (
    NO_MESSAGE,
    check_headers,
    error_of,
    parse_accepted_types,
    parse_message,
    read_document,
    rpc_error_answer,
    wait_for,
)
from agentcore.server.mcp_transports.reply import SESSION_ID, NotificationContext, SessionReply
from agentcore.server.mcp_transports.resuming import ResumableStream, is_standalone_event

VERSION_HEADER = "Mcp-Protocol-Version"
_LAST_EVENT_ID = "Last-Event-ID"
REQUEST_CANCELLED = -32800
"""Error code for a request that the client has cancelled, whose HTTP request needs a response; the SDK's value."""


class Streamable:
    """Serves clients that start with a handshake.

    Args:
        sessions: The connected sessions.
    """

    def __init__(self, sessions: McpSessions) -> None:
        self._sessions = sessions

    async def post(self, exchange: Exchange) -> Answer | Sent:
        """Handle one message of a client."""
        if (problem := check_headers(exchange)) is not None:
            return problem
        document = await read_document(exchange)
        message = document if isinstance(document, Answer) else _parse_message(document)
        if isinstance(message, Answer):
            return message
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            return await self._initialize(exchange, message)
        session = await self._require_session(exchange)
        if isinstance(session, Answer):
            return session
        if isinstance(message, JSONRPCRequest):
            return await self._answer_request(exchange, session, message)
        await _handle_message(session, message)
        return Answer(b"", HTTPStatus.ACCEPTED, "")

    async def get(self, exchange: Exchange) -> Answer | Sent:
        """Serve a stream for messages that belong to no request, or resume a stream."""
        if EVENT_STREAM not in parse_accepted_types(exchange):
            return rpc_error_answer(
                HTTPStatus.NOT_ACCEPTABLE, INVALID_REQUEST, f"the client must accept {EVENT_STREAM}"
            )
        session = await self._require_session(exchange)
        if isinstance(session, Answer):
            return session
        last = exchange.request.headers.get(_LAST_EVENT_ID, "")
        if not last or is_standalone_event(last):
            return await self._serve_standalone_stream(exchange, session, last)
        found = session.streams.find_stream(last)
        if found is None:
            message = "what this event was of is kept no longer; send the request again"
            return rpc_error_answer(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, message)
        return await self._serve_stream(exchange, session, *found)

    async def _serve_standalone_stream(self, exchange: Exchange, session: McpSession, last: str) -> Answer | Sent:
        """Send messages that belong to no request, including those since the last event that the client has."""
        standalone = session.standalone
        found = session.streams.find_stream(last)
        if standalone.events is None:
            standalone.events = session.streams.open_standalone()
        if standalone.events.is_read and found is None:
            return rpc_error_answer(HTTPStatus.CONFLICT, INVALID_REQUEST, "this session has such a stream already")
        self._sessions.publish_change(session, is_connected=True)
        try:
            return await self._serve_stream(exchange, session, standalone.events, None if found is None else found[1])
        finally:
            self._sessions.publish_change(session, is_connected=False)

    async def _serve_stream(
        self, exchange: Exchange, session: McpSession, events: ResumableStream, after: int | None
    ) -> Answer | Sent:
        stream = RawStream(exchange.request, headers=_session_headers(session))
        over = events.resume_on(stream, after)
        if after is None and session.supports_priming:
            events.send_priming_event()
        try:
            await self._sessions.serve_stream(exchange, stream, over)
        finally:
            events.detach_reader(over)
        return stream.end()

    async def delete(self, exchange: Exchange) -> Answer:
        """End a session, as the client requests."""
        session = await self._require_session(exchange)
        if isinstance(session, Answer):
            return session
        await self._sessions.end(session.caller.session_id)
        return Answer(b"", HTTPStatus.OK, "")

    # -- one message -------------------------------------------------------------------------------------------

    async def _initialize(self, exchange: Exchange, message: JSONRPCRequest) -> Answer | Sent:
        session = self._sessions.create_session(exchange)
        answer = await self._answer_request(exchange, session, message)
        if session.connection.client_params is not None:
            await self._sessions.save_session(session)
        else:
            self._sessions.remove_session(session)
        return answer

    async def _require_session(self, exchange: Exchange) -> McpSession | Answer:
        headers = exchange.request.headers
        version = headers.get(VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            known = ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
            return rpc_error_answer(
                HTTPStatus.BAD_REQUEST, INVALID_REQUEST, f"revision {version[:40]!r} is not served here; {known} are"
            )
        session_id = headers.get(SESSION_ID)
        if session_id is None:
            return rpc_error_answer(
                HTTPStatus.BAD_REQUEST, INVALID_REQUEST, f"no {SESSION_ID}: send `initialize` first"
            )
        session = await self._sessions.find_session(exchange, session_id)
        return session or rpc_error_answer(
            HTTPStatus.NOT_FOUND, INVALID_REQUEST, "this session has ended; send `initialize` to begin another"
        )

    async def _answer_request(self, exchange: Exchange, session: McpSession, message: JSONRPCRequest) -> Answer | Sent:
        if message.id in session.in_flight:
            return rpc_error_answer(
                HTTPStatus.BAD_REQUEST, INVALID_REQUEST, "a request with this id is being answered already", message.id
            )
        reply = SessionReply(exchange, session, message)
        work = _resume_cut_off_call(session, message, reply) or asyncio.ensure_future(
            session.answer_request(reply, message.method, message.params)
        )
        session.in_flight[message.id] = work

        departures = session.caller.departures

        def end() -> None:
            departures.record_reason(message.id, "ended")
            work.cancel()

        exchange.connection.on_lost = lambda: reply.lose_client(_call_key(message), work)
        exchange.connection.end_stream = end
        try:
            await wait_for(work, reply.keep_alive)
            return await reply.finish(_to_response(message, work))
        finally:
            work.cancel()
            exchange.connection.on_lost = exchange.connection.end_stream = None
            departures.remove_request(message.id)
            if session.in_flight.get(message.id) is work:
                del session.in_flight[message.id]


def _to_response(message: JSONRPCRequest, work: "asyncio.Future[dict[str, Any]]") -> dict[str, Any]:
    if work.cancelled():
        error = ErrorData(code=REQUEST_CANCELLED, message="Request cancelled")
    elif (exc := work.exception()) is None:
        return {"jsonrpc": "2.0", "id": message.id, "result": work.result()}
    else:
        error = error_of(exc, message.method)
    return {"jsonrpc": "2.0", "id": message.id, "error": error.model_dump(mode="json", exclude_none=True)}


async def _handle_message(session: McpSession, message: JSONRPCNotification | JSONRPCResponse | JSONRPCError) -> None:
    if not isinstance(message, JSONRPCNotification):
        session.accept_response(message)
        return
    if message.method == "notifications/cancelled":
        cancelled = cancelled_request_id_from_params(message.params)
        if cancelled is not None:
            await session.cancel_request(cancelled)
        return
    await session.runner.on_notify(NotificationContext(session), message.method, message.params)


def _call_key(message: JSONRPCRequest) -> bytes | None:
    """Return the key that equal calls of a session share; None if the request is not a call."""
    if message.method != "tools/call" or message.params is None:
        return None
    return to_json([message.params.get("name"), message.params.get("arguments")])


def _resume_cut_off_call(
    session: McpSession, message: JSONRPCRequest, reply: SessionReply
) -> "asyncio.Future[dict[str, Any]] | None":
    """Return the work of an equal call whose client was disconnected; its messages go to this request from now on."""
    key = _call_key(message) if session.streams else None
    cut_off = None if key is None else session.streams.claim_cut_off_call(key)
    if cut_off is None:
        return None
    cut_off.hand_over(reply)
    return cut_off.work


def _parse_message(document: object) -> JSONRPCMessage | Answer:
    try:
        return parse_message(document)
    except ValueError:
        return rpc_error_answer(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, NO_MESSAGE)


def _session_headers(session: McpSession) -> dict[str, str]:
    return {SESSION_ID: session.caller.session_id}
