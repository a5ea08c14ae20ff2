"""`Channel`: connects pages to the broker by WebSocket, with long polling as the fallback."""

import asyncio
import json
from typing import Annotated, Any, Literal, Protocol, Self

import structlog
from pydantic import TypeAdapter, ValidationError, model_validator

from agentcore.api import BaseModel, Field, Request, Response, Runtime, ToolError
from agentcore_ui_page.broker import Broker, Command

log = structlog.get_logger(__name__)

PREFIX = "/api/ui-commands"
POLL_MS_MAX = 30_000
POLL_MS = 25_000
REPLACED = 4001
"""The close code of a page's WebSocket when another page connects with the same id."""

ClientId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$", description="What the page calls itself.")]


class Socket(Protocol):
    """The part of a request's WebSocket that `Channel` stores for closing it."""

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection."""
        ...


class PollQuery(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """One long poll."""

    clientId: ClientId  # noqa: N815 - spelled as it is on the wire
    timeoutMs: Annotated[int, Field(ge=0, le=POLL_MS_MAX)] = POLL_MS  # noqa: N815


class SocketQuery(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """How a page opens a socket."""

    clientId: ClientId  # noqa: N815 - spelled as it is on the wire


class PageError(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """What was thrown in a page."""

    message: Annotated[str, Field(max_length=100_000)]
    stack: Annotated[str, Field(max_length=100_000)] = ""


class CommandResult(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """What a page says of a command: `result` when it went well, `error` when it did not."""

    commandId: Annotated[str, Field(max_length=64)]  # noqa: N815 - spelled as it is on the wire
    ok: bool
    result: Any = None
    error: PageError | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if self.ok == (self.error is not None):
            raise ValueError("`error` stands there exactly when `ok` is false")
        return self


class PostedResult(CommandResult, extra="forbid", frozen=True):
    """The same with the page's name, as it is posted."""

    clientId: ClientId  # noqa: N815 - spelled as it is on the wire


class SocketResult(CommandResult, extra="forbid", frozen=True):
    """The same as it comes over the socket."""

    type: Literal["result"]


class SocketSign(BaseModel, defer_build=True, extra="forbid", frozen=True):
    """`ready`: the page is shown, and asks for commands. `ping`: it is alive."""

    type: Literal["ready", "ping"]


_MESSAGE: TypeAdapter[SocketResult | SocketSign] = TypeAdapter(
    Annotated[SocketResult | SocketSign, Field(discriminator="type")]
)


class Channel:
    """Serves the routes on which pages request commands and send answers."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._sockets: dict[str, Socket] = {}

    def add_routes(self, runtime: Runtime) -> None:
        """Register the routes with the runtime."""
        runtime.add_route("GET", f"{PREFIX}/poll", self._handle_poll, query=PollQuery)
        runtime.add_route("POST", f"{PREFIX}/result", self._handle_result, body=PostedResult)
        runtime.add_route("GET", f"{PREFIX}/socket", self._handle_socket, query=SocketQuery, kind="websocket")
        runtime.add_route("GET", "state", self._get_state)

    async def _handle_poll(self, request: Request) -> Response:
        session = _page_session(request)
        query: PollQuery = request.query
        command = await self._broker.next_command(query.clientId, session, query.timeoutMs / 1000)
        return Response({"command": None if command is None else command.to_json()})

    async def _handle_result(self, request: Request) -> Response:
        session = _page_session(request)
        posted: PostedResult = request.body
        return Response({"used": self._resolve_result(posted.clientId, session, posted)})

    async def _handle_socket(self, request: Request) -> None:
        """Send commands one at a time, and handle answers until the page disconnects."""
        session = _page_session(request)
        socket = request.socket
        assert socket is not None  # noqa: S101 - the route is one for WebSockets
        client_id: str = request.query.clientId
        commands: asyncio.Queue[Command] = asyncio.Queue()
        deliver = commands.put_nowait
        self._broker.connect_page(client_id, session, deliver)
        replaced = self._sockets.get(client_id)
        self._sockets[client_id] = socket

        async def send() -> None:
            while True:
                command = await commands.get()
                await socket.send(json.dumps({"command": command.to_json()}, ensure_ascii=False))

        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(send(), name="ui_page:send")
                if replaced is not None:  # a duplicated page has the same id: the older one creates another
                    await replaced.close(REPLACED, "replaced")
                async for message in socket:
                    if self._sockets.get(client_id) is socket:
                        self._handle_message(client_id, session, message)
                sending.cancel()
        except* ConnectionError:
            pass  # the page was closed
        finally:
            self._broker.disconnect_page(client_id, deliver)
            if self._sockets.get(client_id) is socket:
                del self._sockets[client_id]

    async def _get_state(self, _: Request) -> Response:
        return Response({"pages": self._broker.list_pages(), "counts": dict(self._broker.counts)})

    def _handle_message(self, client_id: str, session: str, message: str | bytes) -> None:
        try:
            received = _MESSAGE.validate_json(message)
        except ValidationError as exc:
            self._broker.counts["malformed"] += 1
            first = exc.errors(include_url=False, include_input=False)[0]
            log.info("ui_result_dropped", why="malformed", reason=f"{first['loc']}: {first['msg']}")
            return
        if isinstance(received, SocketResult):
            self._resolve_result(client_id, session, received)
        elif received.type == "ready":
            self._broker.record_poll(client_id, session)
        else:
            self._broker.record_activity(client_id)

    def _resolve_result(self, client_id: str, session: str, answer: CommandResult) -> bool:
        outcome = {"ok": answer.ok, "result": answer.result}
        if answer.error is not None:
            outcome["error"] = answer.error.model_dump()
        is_used = self._broker.resolve_result(client_id, session, answer.commandId, outcome)
        if not is_used:
            log.info("ui_result_dropped", why="late", command_id=answer.commandId)
        return is_used


def _page_session(request: Request) -> str:
    if request.page_session is None:
        raise ToolError("forbidden", "only agentcore's own page, logged in in a browser, is served here")
    return request.page_session
