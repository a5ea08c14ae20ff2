"""The stateless revision, 2026-07-28: each POST is one exchange and contains what other revisions send on connecting.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from aiohttp import hdrs
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    InboundModernRoute,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp_types import HEADER_MISMATCH, INVALID_REQUEST, JSONRPCNotification, JSONRPCRequest, RequestId
from pydantic import ValidationError

from agentcore.encoding import to_json
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.request_handler import McpEndpoint
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp_transports.callers import caller_for
from agentcore.server.mcp_transports.mcp_messages import (
    NO_MESSAGE,
    check_headers,
    error_of,
    read_document,
    rpc_error_answer,
    wait_for,
)
from agentcore.server.mcp_transports.reply import Reply

_LISTEN = "subscriptions/listen"
_ENVELOPE_BYTES = 4096
"""Maximum size of what a client declares about itself for the result to be cached."""


class Stateless:
    """Serves clients that send with each request what other clients send once.

    Args:
        door: Answers them.
    """

    def __init__(self, door: McpEndpoint) -> None:
        self._door = door
        self._found: dict[str, list[str]] = {}
        self._listed: dict[str, list[str]] = {}
        self._marks: dict[str, str] = {}

    async def post(self, exchange: Exchange) -> Answer | Sent:
        """Answer one request."""
        if exchange.request.method != "POST":
            return Answer(b"", HTTPStatus.METHOD_NOT_ALLOWED, "", {hdrs.ALLOW: "POST"})
        if (problem := check_headers(exchange)) is not None:
            return problem
        document = await read_document(exchange)
        if isinstance(document, Answer):
            return document
        if isinstance(document, dict) and "id" not in document:
            return _accept_notification(exchange, document)
        return await self._serve_request(exchange, document)

    async def _serve_request(self, exchange: Exchange, document: Any) -> Answer | Sent:
        try:
            request = JSONRPCRequest.model_validate(document, by_name=False)
        except ValidationError:
            return rpc_error_answer(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, NO_MESSAGE)
        route = _classify_request(exchange, document)
        if isinstance(route, InboundLadderRejection):
            return _rejection_answer(route, request.id)
        caller = self._build_caller(exchange)
        if (mismatch := self._find_header_mismatch(exchange, caller, request)) is not None:
            return _rejection_answer(mismatch, request.id)
        return await self._answer_request(exchange, caller, request, route)

    def _build_caller(self, exchange: Exchange) -> Caller:
        """Return the caller. All calls of a client share a session, so that one can use what an earlier one opened."""
        principal = exchange.principal
        session_id = f"{principal.kind}-{principal.id}" if principal.id else principal.kind
        found = self._found.setdefault(session_id, [])
        listed = self._listed.setdefault(session_id, [])
        caller = caller_for(exchange, session_id, found=found, listed=listed)
        # closing a request cancels its call, so requests must not stay open while a call waits for the user
        mark = self._marks.setdefault(session_id, caller.mark)
        return replace(caller, narrowing=replace(caller.narrowing, wait_s=0), mark=mark)

    def _find_header_mismatch(
        self, exchange: Exchange, caller: Caller, request: JSONRPCRequest
    ) -> InboundLadderRejection | None:
        """Return a rejection if an argument that a tool also requires in a header has another value there."""
        if request.method != "tools/call" or request.params is None:
            return None
        name = request.params.get("name")
        arguments = request.params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            return None  # refused later, with the reason
        schema = self._door.header_schema(caller, name)
        return None if schema is None else validate_mcp_param_headers(schema, arguments, exchange.request.headers)

    async def _answer_request(
        self, exchange: Exchange, caller: Caller, request: JSONRPCRequest, route: InboundModernRoute
    ) -> Answer | Sent:
        connection = connection_of(route)
        reply = Reply(exchange, caller, request)
        runner: ServerRunner[Any] = ServerRunner(self._door.server, connection, {})
        work = asyncio.ensure_future(self._door.answer_request(runner, reply, request.method, request.params))

        def cancel() -> None:
            caller.departures.record_reason(request.id, "cancelled")
            work.cancel()

        def end() -> None:
            caller.departures.record_reason(request.id, "ended")
            work.cancel()

        # the client cancels by closing its connection
        exchange.connection.on_lost = cancel
        exchange.connection.end_stream = end
        if request.method == _LISTEN:
            exchange.parts.streams.add(end)  # it never ends by itself, and the server does not wait for it
        try:
            await wait_for(work, reply.keep_alive)
            return await _finish_reply(reply, request, work)
        finally:
            work.cancel()
            exchange.parts.streams.discard(end)
            exchange.connection.on_lost = exchange.connection.end_stream = None


async def _finish_reply(reply: Reply, request: JSONRPCRequest, work: "asyncio.Future[dict[str, Any]]") -> Answer | Sent:
    if work.cancelled():  # the client has gone, or its key was revoked
        return reply.break_off()
    if (exc := work.exception()) is None:
        return await reply.finish({"jsonrpc": "2.0", "id": request.id, "result": work.result()})
    error = error_of(exc, request.method)
    told = {"jsonrpc": "2.0", "id": request.id, "error": error.model_dump(mode="json", exclude_none=True)}
    return await reply.finish(told, ERROR_CODE_HTTP_STATUS.get(error.code, HTTPStatus.OK))


def _classify_request(exchange: Exchange, document: dict[str, Any]) -> InboundModernRoute | InboundLadderRejection:
    """Return what the request declares, if body and headers agree."""
    headers = exchange.request.headers
    said = {}
    for name in (MCP_PROTOCOL_VERSION_HEADER, MCP_METHOD_HEADER, MCP_NAME_HEADER):
        values = headers.getall(name, ())
        if len(values) > 1:  # else readers of the first and of the last value would disagree
            return InboundLadderRejection(HEADER_MISMATCH, f"{name} header appears more than once")
        if values:
            said[name] = values[0]
    return classify_inbound_request(document, headers=said)


def connection_of(route: InboundModernRoute) -> Connection:
    """Return what the request declares about its client, as an SDK connection; most clients send the same each time."""
    said = to_json([route.protocol_version, route.client_info, route.client_capabilities])
    if len(said) > _ENVELOPE_BYTES:
        return Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)
    return _connection_of(said)


@lru_cache(maxsize=64)
def _connection_of(said: bytes) -> Connection:
    # shared by requests: it cannot reach a client, and no code in this module writes to it
    return Connection.from_envelope(*json.loads(said))


def _accept_notification(exchange: Exchange, document: dict[str, Any]) -> Answer:
    """Accept a notification and ignore it: none has a meaning, because a client cancels by closing its connection."""
    try:
        JSONRPCNotification.model_validate(document, by_name=False)
    except ValidationError:
        return rpc_error_answer(HTTPStatus.BAD_REQUEST, INVALID_REQUEST, NO_MESSAGE)
    version = exchange.request.headers.get(MCP_PROTOCOL_VERSION_HEADER, "")
    if (unsupported := unsupported_protocol_version_rejection(version)) is not None:
        return _rejection_answer(unsupported, None)
    return Answer(b"", HTTPStatus.ACCEPTED, "")


def _rejection_answer(rejection: InboundLadderRejection, request_id: RequestId | None) -> Answer:
    status = ERROR_CODE_HTTP_STATUS.get(rejection.code, HTTPStatus.BAD_REQUEST)
    return rpc_error_answer(status, rejection.code, rejection.message, request_id, rejection.data)
