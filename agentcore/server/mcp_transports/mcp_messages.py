"""Messages of MCP over HTTP in all revisions: reads requests and creates error responses."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import structlog
from aiohttp import hdrs
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)

from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.json_text import JsonTextError, parse_json
from agentcore.server.http.raw_stream import EVENT_STREAM
from agentcore.server.http.response import JSON, Answer

log = structlog.get_logger(__name__)

NO_MESSAGE = "the body is no JSON-RPC message; send one at a time"
_SILENT_SECONDS = 15.0


def check_headers(exchange: Exchange) -> Answer | None:
    """Return the error in the headers of a POST, if any: it must send JSON, and accept JSON and an event stream."""
    kinds = parse_accepted_types(exchange)
    if JSON not in kinds or EVENT_STREAM not in kinds:
        return rpc_error_answer(
            HTTPStatus.NOT_ACCEPTABLE, INVALID_REQUEST, f"the client must accept both {JSON} and {EVENT_STREAM}"
        )
    said = exchange.request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower()
    if said != JSON:
        return rpc_error_answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, f"the body must be {JSON}")
    return None


def parse_accepted_types(exchange: Exchange) -> set[str]:
    """Return the media types that a client accepts."""
    header = exchange.request.headers.get(hdrs.ACCEPT, "")
    kinds = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    if "*/*" in kinds or "application/*" in kinds:
        kinds.add(JSON)
    if "*/*" in kinds or "text/*" in kinds:
        kinds.add(EVENT_STREAM)
    return kinds


async def read_document(exchange: Exchange) -> Any | Answer:
    """Return the JSON document in the body, or the error response if it is none."""
    body = await exchange.parts.reader.read_bytes(exchange.request)
    try:
        return parse_json(body)
    except JsonTextError as exc:
        return rpc_error_answer(HTTPStatus.BAD_REQUEST, PARSE_ERROR, f"the body is not JSON: {exc.message}")


def parse_message(document: Any) -> JSONRPCMessage:
    """Return the message in a document.

    Raises:
        ValueError: It is no message. A request whose id is neither text nor integer is refused too: as a notification,
            it would never get the response that its sender waits for.
    """
    message: JSONRPCMessage = jsonrpc_message_adapter.validate_python(document, by_name=False)
    if isinstance(message, JSONRPCNotification) and document.get("id") is not None:
        raise ValueError("its id is none")
    return message


def rpc_error_answer(
    status: int, code: int, message: str, request_id: RequestId | None = None, data: Any | None = None
) -> Answer:
    """Return a JSON-RPC error response."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return Answer(to_json({"jsonrpc": "2.0", "id": request_id, "error": error}), status)


async def wait_for(work: "asyncio.Future[dict[str, Any]]", keep_alive: Callable[[], None]) -> None:
    """Wait until the work is done, however it ends, and show periodically that it is in progress."""
    alive = _Alive(keep_alive)
    try:
        await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not work.cancelled() or (task is not None and task.cancelling()):
            raise
    except Exception:  # noqa: BLE001, S110 - whoever waits looks at how it ended, and tells of it
        pass
    finally:
        alive.stop()


class _Alive:
    """Shows periodically that work is in progress."""

    def __init__(self, show: Callable[[], None]) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_SILENT_SECONDS, self._tick)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(_SILENT_SECONDS, self._tick)
        with suppress(ConnectionError):  # the client is disconnecting
            self._show()

    def stop(self) -> None:
        """Stop showing it."""
        self._timer.cancel()


def error_of(exc: BaseException, method: str) -> ErrorData:
    """Return the error that a client receives for an exception of a handler."""
    known = handler_exception_to_error_data(exc)
    if known is not None:
        return known
    log.error("mcp_request_failed", method=method, exc_info=exc)
    return ErrorData(code=INTERNAL_ERROR, message="the server failed; its log has the traceback")
