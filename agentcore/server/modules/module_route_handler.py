"""Routes that modules serve: passes requests to module code, contains it, and sends its responses."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import replace
from http import HTTPStatus
from typing import Any, TypeVar

import pydantic_core
import structlog
from aiohttp import web

from agentcore.api import Request, Response
from agentcore.core.module_code.containment import Contained
from agentcore.core.module_code.module_error import log_failure, type_name
from agentcore.core.module_code.plain_values import plain_text
from agentcore.core.module_code.tool_errors import WrongToolError, plain_error
from agentcore.core.modules.module_routes import ModuleRoute
from agentcore.errors import ToolError
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import RawStream
from agentcore.server.http.reader import parse_query, validate_body, validate_query
from agentcore.server.http.refusal import Refusal, answer_error
from agentcore.server.http.response import JSON, Answer, Sent
from agentcore.server.modules.socket import ModuleSocket

log = structlog.get_logger(__name__)
T = TypeVar("T")

_CREDENTIALS = frozenset(
    ("authorization", "cookie", "proxy-authorization", "x-agentcore-session", "sec-websocket-protocol")
)
# modules must not replace the server's policy, open it to other origins, or set its cookies
_NOT_FOR_MODULES = frozenset(("content-security-policy", "cache-control", "set-cookie"))
_CORS = "access-control-"
_LEAVE_SECONDS = 1.0
_METHODS_WITH_BODY = frozenset(("POST", "PUT", "PATCH", "DELETE"))


async def serve_module_route(
    exchange: Exchange, route: ModuleRoute, path_values: dict[str, str]
) -> Answer | Sent | web.WebSocketResponse:
    """Answer a request with a module's route.

    Raises:
        Refusal: Query or body do not match the route's models, or a WebSocket is expected and not requested.
        ToolError: `confirmation_required`.
    """
    exchange.parts.live_control.check_route(exchange.principal, route)
    try:
        request = await _build_request(exchange, route, path_values)
        if route.kind == "websocket":
            return await _serve_websocket(exchange, route, request)
        response = await _run_contained(
            exchange, route, lambda: _call_handler(route, request), limit_s=exchange.parts.limits.module_answer
        )
        if not isinstance(response.body, bytes):
            return await _send_stream(exchange, route, response)
        return Answer(response.body, response.status, response.mime, response.headers)
    except ToolError as exc:
        return _answer_tool_error(route, exc)
    except TimeoutError:
        exchange.parts.hits.add("module_route_timeout")
        limit_s = exchange.parts.limits.module_answer
        return answer_error(
            ToolError(
                "timeout",
                f"module {route.module!r} did not answer within {limit_s:g} s",
                module=route.module,
                retryable=True,
            )
        )
    except (asyncio.CancelledError, ConnectionError, Refusal):
        raise
    except BaseException as exc:  # noqa: BLE001 - the border between host and module
        _log_failure(route, exc)
        return answer_error(_handler_error(route))


async def _build_request(exchange: Exchange, route: ModuleRoute, path_values: dict[str, str]) -> Request:
    principal = exchange.principal
    return Request(
        method=exchange.request.method,
        path=exchange.path,
        path_values=path_values,
        query=validate_query(route.query, exchange.raw_query) if route.query else parse_query(exchange.raw_query),
        headers={
            name.lower(): value for name, value in exchange.request.headers.items() if name.lower() not in _CREDENTIALS
        },
        body=await _read_body(exchange, route),
        principal=principal,
        page_session=principal.id if principal.kind == "page" else None,
    )


async def _read_body(exchange: Exchange, route: ModuleRoute) -> Any:
    request = exchange.request
    reader = exchange.parts.reader
    if request.method not in _METHODS_WITH_BODY:
        return None
    if route.body is not None:
        return validate_body(route.body, await reader.read_json(request))
    if not request.can_read_body:
        return None
    is_json = request.content_type == JSON
    return await (reader.read_json(request) if is_json else reader.read_bytes(request))


async def _call_handler(route: ModuleRoute, request: Request) -> Response:
    """Return a handler's response as plain values; its body is encoded in this call, which is contained."""
    return _to_plain_response(route, await route.handler(request))


async def _run_contained(
    exchange: Exchange, route: ModuleRoute, work: Callable[[], Coroutine[Any, Any, T]], *, limit_s: float | None = None
) -> T:
    """Run a module's code until it ends, the module stops, the client has gone, or the time limit is reached."""
    loop = asyncio.get_running_loop()
    contained = Contained(work(), f"route:{route.module}", route.module)
    stopping = ToolError("module_stopping", f"module {route.module!r} is stopping", module=route.module, retryable=True)

    def end() -> None:
        contained.cancel_with(stopping)

    route.enders.add(end)
    if limit_s is None:
        exchange.parts.streams.add(end)
        exchange.connection.on_lost = lambda: contained.cancel_at(
            loop.time() + _LEAVE_SECONDS, ConnectionResetError("the client has gone")
        )
    else:
        contained.cancel_at(loop.time() + limit_s, TimeoutError())
    try:
        return await contained.wait()
    except ToolError as exc:
        raise plain_error(exc) from exc
    finally:
        exchange.connection.on_lost = None
        route.enders.discard(end)
        exchange.parts.streams.discard(end)


def _to_plain_response(route: ModuleRoute, response: Any) -> Response:
    if not isinstance(response, Response):
        raise TypeError(f"the handler of {route.method} {route.path} gave {type_name(response)}, not a Response")
    status = _check_status(response)
    headers = _filter_headers(response)
    body = response.body
    if status in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
        return Response(b"", status, "", headers)
    if isinstance(body, bytes | bytearray | memoryview):
        return Response(bytes(body), status, _check_text(response.mime, "mime"), headers)
    if route.kind == "stream" and isinstance(body, AsyncIterator):
        return Response(body, status, _check_text(response.mime, "mime"), headers)
    # other values are a defect of the handler: methods of foreign objects must not be called to get their text
    return Response(pydantic_core.to_json(body, by_alias=True, inf_nan_mode="null"), status, JSON, headers)


def _check_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} of a Response must be text, not {type_name(value)}")
    return plain_text(value)


async def _send_stream(exchange: Exchange, route: ModuleRoute, response: Response) -> Sent:
    stream = RawStream(exchange.request, response.mime, response.status, response.headers)

    async def pump() -> None:
        try:
            async for chunk in response.body:
                stream.write(chunk)
                await stream.drain()
        finally:
            if isinstance(response.body, AsyncGenerator):
                await response.body.aclose()  # closes what it has opened now, and not at garbage collection

    try:
        await _run_contained(exchange, route, pump)
    except ConnectionError:
        return stream.break_off()
    except ToolError as exc:  # the status has been sent: only an incomplete end can report the error
        log.info("module_stream_ended", module=route.module, path=route.path, reason=exc.type)
        return stream.end() if exc.type == "module_stopping" else stream.break_off()
    except asyncio.CancelledError:
        raise
    except BaseException as exc:  # noqa: BLE001 - the border between host and module
        _log_failure(route, exc)
        return stream.break_off()
    return stream.end()


async def _serve_websocket(exchange: Exchange, route: ModuleRoute, request: Request) -> web.WebSocketResponse:
    control = exchange.parts.live_control
    socket = await ModuleSocket.open(exchange, lambda message: control.find_refusal(exchange.principal, route, message))
    talk = replace(request, body=None, socket=socket)

    async def handle() -> None:
        await route.handler(talk)

    code = 1000
    reason = ""
    try:
        await _run_contained(exchange, route, handle)
    except ConnectionError:
        pass  # the client has gone: most sockets end like this
    except ToolError as exc:
        code = 1001 if exc.type == "module_stopping" else 1008
        reason = exc.type
    except asyncio.CancelledError:
        raise
    except BaseException as exc:  # noqa: BLE001 - the border between host and module
        _log_failure(route, exc)
        code = 1011
        reason = "internal_error"
    await socket.close(code, reason)
    return socket.response


def _check_status(response: Response) -> int:
    if not isinstance(response.status, int):
        raise TypeError(f"status of a Response must be an integer, not {type_name(response.status)}")
    if not HTTPStatus.OK <= response.status < 600:  # noqa: PLR2004 - the end of what HTTP defines
        raise ValueError(f"a response cannot have status {response.status}")
    return int(response.status)


def _filter_headers(response: Response) -> dict[str, str]:
    headers = {
        _check_text(name, "a header"): _check_text(value, "a header") for name, value in response.headers.items()
    }
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _NOT_FOR_MODULES and not name.lower().startswith(_CORS)
    }


def _answer_tool_error(route: ModuleRoute, exc: ToolError) -> Answer:
    try:
        return answer_error(plain_error(exc))
    except WrongToolError as wrong:
        _log_failure(route, wrong)
        return answer_error(_handler_error(route))


def _log_failure(route: ModuleRoute, exc: BaseException) -> None:
    log_failure(log, "module_route_failed", exc, module=route.module, method=route.method, path=route.path)


def _handler_error(route: ModuleRoute) -> ToolError:
    return ToolError(
        "internal_error",
        f"module {route.module!r} failed at {route.method} {route.path}; the server's log has the traceback",
        module=route.module,
    )
