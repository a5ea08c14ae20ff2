"""Routes of modules in a host: requests, streams and sockets over the link."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import structlog
from pydantic import BaseModel, ValidationError

from agentcore.api.web import Request, Response, Route
from agentcore.core.module_code.module_error import log_failure, type_name
from agentcore.core.module_code.ownership import OWNER
from agentcore.core.modules.module_routes import ModuleRoute, RouteTable
from agentcore.errors import ToolError
from agentcore.hosts.wire.channel import Inlet, Outlet
from agentcore.hosts.wire.values import error_to_wire, principal_of
from agentcore.hosts.worker.server_connection import Line
from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

_CODES = 1000, 4999


@dataclass
class _Talk:
    """An open stream or socket."""

    outlet: Outlet
    inlet: Inlet
    task: asyncio.Task[None] | None = None


class _HostSocket:
    """Implements `agentcore.api.web.Socket`."""

    def __init__(self, line: Line, number: int, talk: _Talk) -> None:
        self._line = line
        self._number = number
        self._talk = talk

    async def send(self, message: str | bytes) -> None:
        await self._talk.outlet.send(message)

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        return self._talk.inlet.__aiter__()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        if type(code) is not int or not _CODES[0] <= code <= _CODES[1]:
            raise ValueError(f"a WebSocket is closed with a code from {_CODES[0]} to {_CODES[1]}, not {code!r}")
        self._line.send_message({"type": "route.close", "channel": self._number, "code": code, "reason": reason})
        self._talk.outlet.close()
        self._talk.inlet.feed_eof()


class WorkerRoutes:
    """The routes of all modules of a host; the server serves them and sends requests here."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._table = RouteTable()
        self._next = 0
        self._served: dict[int, ModuleRoute] = {}
        self._declared: dict[int, dict[str, Any]] = {}
        self._talks: dict[int, _Talk] = {}
        self._last_channel = 0

    def add_route(self, module: int, route: ModuleRoute) -> Route:
        """Serve a route of a module, by the number of its start."""
        added = self._table.add_route(route)
        self._next += 1
        number = self._next
        self._served[number] = route
        declared = {
            "type": "route.add",
            "module": module,
            "route": number,
            "method": route.method,
            "path": route.path,
            "kind": route.kind,
            "scope": route.scope,
            "body": _schema_of_model(route.body),
            "query": _schema_of_model(route.query),
            "watching": _schema_of_model(route.watching),
        }
        self._declared[number] = declared
        self._line.send_message(declared)

        def remove() -> None:
            if self._served.pop(number, None) is not None:
                del self._declared[number]
                added.remove()
                self._line.send_message({"type": "route.remove", "module": module, "route": number})

        return Route(route.method, route.path, remove)

    def resend_routes(self, module: int) -> None:
        """Tell a server that knows none of them of a module's routes."""
        for declared in self._declared.values():
            if declared["module"] == module:
                self._line.send_message(declared)

    def close_channels(self) -> None:
        """The server has gone, and with it all who were reading or talking."""
        self._last_channel = 0
        for talk in self._talks.values():
            talk.inlet.feed_eof()
            talk.outlet.close()
            if talk.task is not None:
                talk.task.cancel()
        self._talks.clear()

    # -- requests ----------------------------------------------------------------------------------------------

    async def answer_request(self, message: dict[str, Any]) -> Any:
        """Answer a request (`route.request`) by its handler; a stream continues after this, a socket is one itself.

        Raises:
            ToolError: Raised by the handler.
        """
        number = self._last_channel = message["channel"]
        early = self._talks.pop(number, None)
        route = self._served.get(message["route"])
        if route is None:
            raise ToolError("module_stopping", "this route is served no more", retryable=True)
        OWNER.set(route.module)
        try:
            request = self._build_request(route, message)
            if route.kind == "websocket":
                return await self._serve_socket(route, request, number, early)
            response = await route.handler(request)
            return await self._build_answer(route, response, number)
        except (asyncio.CancelledError, ToolError):
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            return {"failed": error_to_wire(exc)}

    def _build_request(self, route: ModuleRoute, message: dict[str, Any]) -> Request:
        return Request(
            method=message["method"],
            path=message["path"],
            path_values=message["pathValues"],
            query=_validate_value(route.query, message["query"], is_text=True),
            headers=message["headers"],
            body=self._line.pop_blob(message["blob"])
            if "blob" in message
            else _validate_value(route.body, message["body"]),
            principal=principal_of(message["principal"]),
            page_session=message["pageSession"],
        )

    async def _build_answer(self, route: ModuleRoute, response: Any, number: int) -> dict[str, Any]:
        if not isinstance(response, Response):
            raise TypeError(f"the handler of {route.method} {route.path} gave {type_name(response)}, not a Response")
        body = response.body
        answer = {"status": response.status, "mime": response.mime, "headers": dict(response.headers)}
        if isinstance(body, bytes | bytearray | memoryview):
            return answer | {"blob": await self._line.peer.send_blob(bytes(body))}
        if route.kind == "stream" and isinstance(body, AsyncIterator):
            talk = self._open_channel(number)
            talk.task = asyncio.get_running_loop().create_task(
                self._stream_body(number, talk, body), name="route:stream"
            )
            return answer | {"streams": True}
        if isinstance(body, BaseModel):
            body = body.model_dump(mode="json", by_alias=True)
        return answer | {"body": body}

    async def _stream_body(self, number: int, talk: _Talk, body: AsyncIterator[bytes]) -> None:
        is_broken = False
        try:
            async for chunk in body:
                await talk.outlet.send(bytes(chunk))
        except ConnectionError:
            pass
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            if not isinstance(exc, asyncio.CancelledError):
                log_failure(log, "module_stream_failed", exc)
                is_broken = True
        finally:
            close = getattr(body, "aclose", None)
            if close is not None:
                await close()
            self._line.send_message({"type": "route.close", "channel": number, "broken": is_broken})
            self._talks.pop(number, None)

    # -- sockets -----------------------------------------------------------------------------------------------

    async def _serve_socket(
        self, route: ModuleRoute, request: Request, number: int, early: _Talk | None
    ) -> dict[str, Any]:
        talk = self._open_channel(number, early)
        socket = _HostSocket(self._line, number, talk)
        talking = Request(
            **{name: getattr(request, name) for name in Request.__slots__ if name not in ("socket", "body")},
            body=None,
            socket=socket,
        )
        try:
            await route.handler(talking)
        except ConnectionError:
            pass
        finally:
            self._talks.pop(number, None)
            talk.outlet.close()
        return {}

    def _open_channel(self, number: int, early: _Talk | None = None) -> _Talk:
        peer = self._line.peer
        talk = early or _Talk(Outlet(peer, number, "route.out"), Inlet(peer, number, "route.taken"))
        self._talks[number] = talk
        return talk

    def _find_channel(self, number: int) -> _Talk | None:
        """Return the stream or socket of a channel; messages wait for one whose request has not started yet."""
        known = self._talks.get(number)
        return self._open_channel(number) if known is None and number > self._last_channel else known

    def on_data(self, message: dict[str, Any]) -> None:
        """A message of the other side of a socket came."""
        data = message["text"] if "text" in message else self._line.pop_blob(message["blob"])
        if (talk := self._find_channel(message["channel"])) is not None:
            talk.inlet.feed(data)

    def on_room(self, message: dict[str, Any]) -> None:
        """Handle credit from the other side."""
        if (talk := self._talks.get(message["channel"])) is not None:
            talk.outlet.add_credit(message["size"])

    def on_close(self, message: dict[str, Any]) -> None:
        """The other side has gone."""
        if (talk := self._find_channel(message["channel"])) is not None:
            talk.inlet.feed_eof()
            talk.outlet.close()
            if talk.task is not None:
                talk.task.cancel()


def _schema_of_model(model: type[BaseModel] | None) -> dict[str, Any] | None:
    return None if model is None else model.model_json_schema(by_alias=True)


def _validate_value(model: type[BaseModel] | None, value: Any, *, is_text: bool = False) -> Any:
    """Return the value as its model; the server has validated it against the model's schema."""
    if model is None:
        return value
    try:
        return model.model_validate_strings(value) if is_text else model.model_validate(value)
    except ValidationError as exc:
        errors = [
            {"path": ".".join(map(str, error["loc"])), "message": error["msg"]}
            for error in exc.errors(include_url=False, include_context=False, include_input=False)
        ]
        kind, what = ("invalid_query", "the query") if is_text else ("invalid_body", "the body")
        raise ToolError(kind, f"{what} is not what the route takes", errors=errors) from None
