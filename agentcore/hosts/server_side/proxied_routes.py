"""Routes of a host's modules, as the server serves them: the host answers each request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import structlog
from pydantic import BaseModel

from agentcore.api import Request, Response
from agentcore.api.web import Route, Socket
from agentcore.core.module_code.value_reading import read_mapping
from agentcore.core.modules.module_runtime import ModuleRuntime
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.server_side.host_messages import AddRoute, CloseChannel, Room, StreamChunk, read_answer
from agentcore.hosts.server_side.replies import Answered
from agentcore.hosts.server_side.schema_model import model_of_schema
from agentcore.hosts.wire.channel import Inlet, Outlet
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message, Peer
from agentcore.hosts.wire.values import error_of, principal_to_wire
from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

_ROUTES = 1_000
_PASS_ON_SECONDS = 1.0


@dataclass(eq=False)
class _Talk:
    outlet: Outlet
    inlet: Inlet
    closing: tuple[int, str] | None = None


class ServedRoutes:
    """The routes of one host."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._next = 0
        self._routes: dict[tuple[int, int], Route] = {}
        self._talks: dict[int, _Talk] = {}

    def add_route(self, runtime: ModuleRuntime, told: AddRoute) -> None:
        """Serve a route of a module; an invalid one is reported in the module's diagnostics."""
        key = (told.module, told.route)
        path = told.path
        if key in self._routes:
            raise LinkError("a route without a number of its own")
        if sum(module == told.module for module, _ in self._routes) >= _ROUTES:
            raise ValueError(f"a module may have {_ROUTES:,} routes")
        handler = _Handler(self, told.route, told.kind).handle_request
        try:
            self._routes[key] = runtime.add_route(
                told.method,
                path,
                handler,
                body=_build_model(path, told.body),
                query=_build_model(path, told.query, is_text=True),
                kind=told.kind,  # type: ignore[arg-type]  # it is read there
                watching=_build_model(path, told.watching),
                scope=told.scope,  # type: ignore[arg-type]  # it is read there
            )
        except (TypeError, ValueError) as exc:
            log.warning("route_refused", module=runtime.name, path=path[:200], reason=str(exc))
            runtime.note(f"route {path}"[:200], f"cannot be served: {exc}", advice="Change the path in the module.")

    def remove_route(self, module: int, number: int) -> None:
        """Serve a route no more."""
        route = self._routes.pop((module, number), None)
        if route is not None:
            route.remove()

    def remove_all(self, module: int) -> None:
        """Serve none of a module's any more."""
        for of, number in [key for key in self._routes if key[0] == module]:
            self.remove_route(of, number)

    # -- requests ----------------------------------------------------------------------------------------------

    async def answer_request(self, number: int, kind: str, request: Request) -> Response | None:
        """Let the host answer a request.

        Raises:
            ToolError: Raised by the handler; `module_failed`: the host has ended.
            Exception: Any other exception of it.
        """
        self._next += 1
        channel = self._next
        talk = None if kind == "json" else self._open_channel(channel)
        message = await self._build_message(number, channel, request)
        if kind == "websocket" and request.socket is not None and talk is not None:
            await self._relay_socket(channel, talk, request.socket, message)
            return None
        streams = False
        try:
            answer = read_answer(Answered, await self._request_host(message), "a host's answer to a request")
            streams = answer.streams and talk is not None
            if not streams:
                return self._build_response(answer, self._read_body(answer))
            assert talk is not None  # noqa: S101 - it streams
            return self._build_response(answer, self._stream_body(channel, talk))
        finally:
            if not streams and talk is not None:
                self._close_channel(channel)

    async def _build_message(self, number: int, channel: int, request: Request) -> Message:
        message: Message = {
            "type": "route.request",
            "route": number,
            "channel": channel,
            "method": request.method,
            "path": request.path,
            "pathValues": dict(request.path_values),
            "query": _to_plain_value(request.query),
            "headers": dict(request.headers),
            "principal": principal_to_wire(request.principal),
            "pageSession": request.page_session,
        }
        if isinstance(request.body, bytes):
            return message | {"blob": await self._send_body(request.body)}
        return message | {"body": _to_plain_value(request.body)}

    async def _send_body(self, data: bytes) -> int:
        try:
            return await self._peer.send_blob(data)
        except LinkError as exc:
            raise _module_failed_error(exc) from exc

    async def _request_host(self, message: Message) -> dict[str, Any]:
        try:
            answer = await self._peer.request(message)
        except LinkError as exc:
            raise _module_failed_error(exc) from exc
        if type(answer) is not dict:
            raise TypeError("the host's answer is no object")
        if "failed" in answer:
            raise error_of(answer["failed"])
        return answer

    def _build_response(self, answer: Answered, body: Any) -> Response:
        return Response(body, answer.status, answer.mime, answer.headers)

    def _read_body(self, answer: Answered) -> Any:
        return answer.body if answer.blob is None else self._peer.pop_blob(answer.blob)

    async def _stream_body(self, channel: int, talk: _Talk) -> AsyncIterator[bytes]:
        try:
            async for chunk in talk.inlet:
                yield chunk if isinstance(chunk, bytes) else chunk.encode()
        finally:
            self._close_channel(channel)

    # -- sockets -----------------------------------------------------------------------------------------------

    async def _relay_socket(self, channel: int, talk: _Talk, socket: Socket, message: Message) -> None:
        """Relay messages between a WebSocket and the host's handler, until either closes.

        Raises:
            ToolError: Raised by the handler.
            Exception: Any other exception of it.
        """
        loop = asyncio.get_running_loop()
        # in no TaskGroup, which would wrap what the handler raises; both end here
        reading = loop.create_task(self._forward_to_host(talk, socket, channel), name="route:in")
        writing = loop.create_task(_forward_to_socket(talk, socket), name="route:out")
        try:
            await self._request_host(message)
        finally:
            reading.cancel()
            self._close_channel(channel)
            # what came before the end is passed on
            await asyncio.wait({writing}, timeout=_PASS_ON_SECONDS)
            writing.cancel()
            await asyncio.wait({reading, writing})

    async def _forward_to_host(self, talk: _Talk, socket: Socket, channel: int) -> None:
        try:
            async for data in socket:
                await talk.outlet.send(data)
        except ConnectionError:
            pass
        self._peer.send_message({"type": "route.close", "channel": channel})

    def _open_channel(self, channel: int) -> _Talk:
        talk = _Talk(Outlet(self._peer, channel, "route.in"), Inlet(self._peer, channel, "route.taken"))
        self._talks[channel] = talk
        return talk

    def _close_channel(self, channel: int) -> None:
        talk = self._talks.pop(channel, None)
        if talk is not None:
            talk.inlet.feed_eof()
            talk.outlet.close()
            self._peer.send_message({"type": "route.close", "channel": channel})

    # -- messages of the host ----------------------------------------------------------------------------------------

    def on_data(self, told: StreamChunk) -> None:
        """Handle a chunk of a stream, or a message of a socket."""
        data = self._peer.pop_blob(told.blob) if told.text is None else told.text
        if (talk := self._talks.get(told.channel)) is not None:
            talk.inlet.feed(data)

    def on_room(self, told: Room) -> None:
        """Handle credit from the host."""
        if (talk := self._talks.get(told.channel)) is not None:
            talk.outlet.add_credit(told.size)

    def on_close(self, told: CloseChannel) -> None:
        """Handle the end of the host's data."""
        if (talk := self._talks.get(told.channel)) is not None:
            broken = ConnectionResetError("the stream broke off") if told.broken else None
            talk.closing = told.code, told.reason
            talk.inlet.feed_eof(broken)
            talk.outlet.close()

    def close_channels(self) -> None:
        """The link has ended: so do all streams and sockets."""
        for talk in self._talks.values():
            talk.inlet.feed_eof(ConnectionResetError("the host has ended"))
            talk.outlet.close()
        self._talks.clear()


class _Handler:
    """Answers one route's requests."""

    def __init__(self, routes: ServedRoutes, number: int, kind: str) -> None:
        self._routes = routes
        self._number = number
        self._kind = kind

    async def handle_request(self, request: Request) -> Response | None:
        return await self._routes.answer_request(self._number, self._kind, request)


async def _forward_to_socket(talk: _Talk, socket: Socket) -> None:
    try:
        async for data in talk.inlet:
            await socket.send(data)
        if talk.closing is not None:
            await socket.close(*talk.closing)
    except ConnectionError:
        pass


def _build_model(path: str, schema: Any, *, is_text: bool = False) -> type[BaseModel] | None:
    if schema is None:
        return None
    name = "".join(part.capitalize() for part in path.split("/")[-2:] if part.isidentifier()) or "Body"
    return model_of_schema(name, read_mapping(schema, "the schema of a host's route"), is_text=is_text)


def _to_plain_value(value: Any) -> Any:
    if isinstance(value, BaseModel):
        # unchanged: omitted fields stay omitted, and the host's own model fills them in
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    to_json(value)
    return value


def _module_failed_error(exc: LinkError) -> ToolError:
    return ToolError("module_failed", f"the host of this module has ended: {exc}", retryable=True)
