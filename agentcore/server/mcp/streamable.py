"""Streamable HTTP, as the revisions from 2025-03-26 to 2025-11-25 have it: POST, GET, DELETE on one address.

A request is answered with JSON where it ends at once, and with a stream of events where there is something to tell on
the way. Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import structlog
from aiohttp import hdrs
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params, handler_exception_to_error_data
from mcp_types import (
    DEFAULT_NEGOTIATED_VERSION,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.json_text import JsonTextError, parse_json
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.response import JSON, Answer, Sent
from agentcore.server.mcp.reply import SESSION_ID, Reply, Told
from agentcore.server.mcp.session import McpSession
from agentcore.server.mcp.sessions import McpSessions

log = structlog.get_logger(__name__)

VERSION_HEADER = "Mcp-Protocol-Version"
REQUEST_CANCELLED = -32800
"""Answers a request that the client has cancelled, whose HTTP request needs an end; as the SDK does."""

_SILENT_SECONDS = 15.0


class Streamable:
    """Serves clients that begin with a handshake.

    Args:
        sessions: Who is connected.
    """

    def __init__(self, sessions: McpSessions) -> None:
        self._sessions = sessions

    async def post(self, exchange: Exchange) -> Answer | Sent:
        """Take one message of a client."""
        if (fault := _fault_of_head(exchange)) is not None:
            return fault
        message = _read(await exchange.parts.reader.read_bytes(exchange.request))
        if isinstance(message, Answer):
            return message
        if isinstance(message, JSONRPCRequest) and message.method == "initialize":
            return await self._initialize(exchange, message)
        session = await self._session(exchange)
        if isinstance(session, Answer):
            return session
        if isinstance(message, JSONRPCRequest):
            return await self._answer(exchange, session, message)
        await _take(session, message)
        return Answer(b"", HTTPStatus.ACCEPTED, "")

    async def get(self, exchange: Exchange) -> Answer | Sent:
        """Keep a stream open for what belongs to no request."""
        if EVENT_STREAM not in _accepted(exchange):
            return _refused(HTTPStatus.NOT_ACCEPTABLE, INVALID_REQUEST, f"the client must accept {EVENT_STREAM}")
        session = await self._session(exchange)
        if isinstance(session, Answer):
            return session
        if session.standalone.stream is not None:
            return _refused(HTTPStatus.CONFLICT, INVALID_REQUEST, "this session has such a stream already")
        stream = session.standalone.stream = RawStream(exchange.request, headers=_named(session))
        try:
            await self._sessions.keep_open(exchange, stream)
        finally:
            session.standalone.stream = None
        return stream.end()

    async def delete(self, exchange: Exchange) -> Answer:
        """End a session, at the client's wish."""
        session = await self._session(exchange)
        if isinstance(session, Answer):
            return session
        await self._sessions.end(session.caller.session_id)
        return Answer(b"", HTTPStatus.OK, "")

    # -- one message -------------------------------------------------------------------------------------------

    async def _initialize(self, exchange: Exchange, message: JSONRPCRequest) -> Answer | Sent:
        session = self._sessions.begin(exchange)
        answer = await self._answer(exchange, session, message)
        if session.connection.client_params is not None:
            await self._sessions.keep(session)
        else:
            self._sessions.drop(session)
        return answer

    async def _session(self, exchange: Exchange) -> McpSession | Answer:
        headers = exchange.request.headers
        version = headers.get(VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            known = ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
            return _refused(
                HTTPStatus.BAD_REQUEST, INVALID_REQUEST, f"revision {version[:40]!r} is not served here; {known} are"
            )
        session_id = headers.get(SESSION_ID)
        if session_id is None:
            return _refused(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, f"no {SESSION_ID}: send `initialize` first")
        session = await self._sessions.find(exchange, session_id)
        return session or _refused(
            HTTPStatus.NOT_FOUND, INVALID_REQUEST, "this session has ended; send `initialize` to begin another"
        )

    async def _answer(self, exchange: Exchange, session: McpSession, message: JSONRPCRequest) -> Answer | Sent:
        if message.id in session.in_flight:
            return _refused(
                HTTPStatus.BAD_REQUEST, INVALID_REQUEST, "a request with this id is being answered already", message.id
            )
        reply = Reply(exchange, session, message)
        work = asyncio.ensure_future(session.runner.on_request(reply, message.method, message.params))
        session.in_flight[message.id] = work

        def end() -> None:
            work.cancel()

        exchange.connection.on_lost = exchange.connection.end_stream = end
        try:
            await _wait(work, reply.keep_alive)
            return reply.finish(_outcome(message, work))
        finally:
            work.cancel()
            exchange.connection.on_lost = exchange.connection.end_stream = None
            if session.in_flight.get(message.id) is work:
                del session.in_flight[message.id]


async def _wait(work: "asyncio.Future[dict[str, Any]]", keep_alive: Callable[[], None]) -> None:
    """Wait until it is done, and show now and then that it goes on."""
    while not work.done():
        await asyncio.wait((work,), timeout=_SILENT_SECONDS)
        if not work.done():
            keep_alive()


def _outcome(message: JSONRPCRequest, work: "asyncio.Future[dict[str, Any]]") -> dict[str, Any]:
    if work.cancelled():
        error = ErrorData(code=REQUEST_CANCELLED, message="Request cancelled")
    elif (exc := work.exception()) is None:
        return {"jsonrpc": "2.0", "id": message.id, "result": work.result()}
    else:
        error = _error_of(exc, message)
    return {"jsonrpc": "2.0", "id": message.id, "error": error.model_dump(mode="json", exclude_none=True)}


def _error_of(exc: BaseException, message: JSONRPCRequest) -> ErrorData:
    known = handler_exception_to_error_data(exc)
    if known is not None:
        return known
    log.error("mcp_request_failed", method=message.method, exc_info=exc)
    return ErrorData(code=INTERNAL_ERROR, message="the server failed; its log has the traceback")


async def _take(session: McpSession, message: JSONRPCNotification | JSONRPCResponse | JSONRPCError) -> None:
    if not isinstance(message, JSONRPCNotification):
        session.take_answer(message)
        return
    if message.method == "notifications/cancelled":
        cancelled = cancelled_request_id_from_params(message.params)
        if cancelled is not None and (work := session.in_flight.get(cancelled)) is not None:
            work.cancel()
        return
    await session.runner.on_notify(Told(session), message.method, message.params)


def _read(body: bytes) -> JSONRPCMessage | Answer:
    try:
        return jsonrpc_message_adapter.validate_python(parse_json(body), by_name=False)
    except JsonTextError as exc:
        return _refused(HTTPStatus.BAD_REQUEST, PARSE_ERROR, f"the body is not JSON: {exc.message}")
    except ValidationError:
        message = "the body is no JSON-RPC message; send one at a time"
        return _refused(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, message)


def _fault_of_head(exchange: Exchange) -> Answer | None:
    accepted = _accepted(exchange)
    if JSON not in accepted or EVENT_STREAM not in accepted:
        return _refused(
            HTTPStatus.NOT_ACCEPTABLE, INVALID_REQUEST, f"the client must accept both {JSON} and {EVENT_STREAM}"
        )
    said = exchange.request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower()
    if said != JSON:
        return _refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, f"the body must be {JSON}")
    return None


def _accepted(exchange: Exchange) -> set[str]:
    header = exchange.request.headers.get(hdrs.ACCEPT, "")
    kinds = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    if "*/*" in kinds or "application/*" in kinds:
        kinds.add(JSON)
    if "*/*" in kinds or "text/*" in kinds:
        kinds.add(EVENT_STREAM)
    return kinds


def _refused(status: HTTPStatus, code: int, message: str, request_id: str | int | None = None) -> Answer:
    document = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return Answer(to_json(document), status)


def _named(session: McpSession) -> dict[str, str]:
    return {SESSION_ID: session.caller.session_id}
