"""One session of an MCP client, over HTTP or a pipe, for the revisions that start with a handshake."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from mcp.server.connection import Connection
from mcp.server.models import InitializationOptions
from mcp.server.runner import ServerRunner
from mcp.shared.dispatcher import CallOptions, DispatchContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types import REQUEST_TIMEOUT, InitializeRequestParams, JSONRPCError, JSONRPCResponse, RequestId
from pydantic import TypeAdapter

from agentcore.encoding import to_json
from agentcore.mcp_endpoint.app_views import VIEW_MIME, VIEWS_EXTENSION
from agentcore.mcp_endpoint.caller import Caller, SessionSubscriptions
from agentcore.mcp_endpoint.request_handler import McpEndpoint
from agentcore.server.mcp_transports.resuming import KeptEvents, ResumableStream, ResumableStreams

_ANSWER_SECONDS = 600.0
"""Maximum time for a client to answer a request; it may ask its user."""

_PRIMED_SINCE = "2025-11-25"
"""Clients of earlier revisions treat an event without data as a broken message."""

_CHANGING = frozenset(("logging/setLevel", "resources/subscribe", "resources/unsubscribe"))
"""Requests whose effect lasts for the session."""

_wishes = TypeAdapter(SessionSubscriptions)


class MessageStream(Protocol):
    """Sends messages to a client."""

    @property
    def is_behind(self) -> bool:
        """True while the reader is too far behind to buffer more for it."""
        ...

    def send(self, message: bytes) -> None:
        """Send a message. Never waits, never fails."""
        ...


class Standalone:
    """The channel for messages that belong to no request: a pipe, or the stream that a client keeps open with GET.

    Attributes:
        stream: The pipe's channel, if there is one.
        events: The messages over HTTP, also while they are not read; None: they have never been read.
    """

    def __init__(self, session: "McpSession") -> None:
        self._session = session
        self.stream: MessageStream | None = None
        self.events: ResumableStream | None = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send the client a request.

        Raises:
            MCPError: The client responds with an error, or not in time; there is no stream.
        """
        if self.stream is None:
            raise NoBackChannelError(method)
        return await self._session.send_request(self.stream, method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send the client a notification, if it listens, or has listened and may reconnect."""
        stream = self.stream or self.events
        if stream is not None and not stream.is_behind:
            stream.send(encode_notification(method, params))


class McpSession:
    """The state of a connected client.

    Args:
        caller: The client.
        door: Answers its requests.
        handshake: Sent to it when it connects.
        keep: Saves the session, so that it survives the process.
        kept_events: Counts what is stored for its client in event streams.

    Attributes:
        in_flight: Its requests in progress, by id; cancelling the future cancels the request.
        connection: The SDK's view of it.
        streams: Its event streams, for as long as it may resume them.
        is_held: True while a pipe is connected, so that the session does not end for lack of use.
    """

    def __init__(
        self,
        caller: Caller,
        door: McpEndpoint,
        handshake: InitializationOptions,
        keep: "Callable[[McpSession], Awaitable[None]]",
        kept_events: KeptEvents,
    ) -> None:
        self.caller = caller
        self._door = door
        self._keep = keep
        self.standalone = Standalone(self)
        self.connection = Connection.for_loop(self.standalone, session_id=caller.session_id)
        self.runner = ServerRunner(door.server, self.connection, {}, init_options=handshake)
        self.in_flight: dict[RequestId, asyncio.Future[dict[str, Any]]] = {}
        self.last_used_at = time.time()
        self.is_held = False
        self.streams = ResumableStreams(kept_events)
        self._asked: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)

    @property
    def is_listening(self) -> bool:
        """True while its client keeps a stream open for messages that belong to no request."""
        return self.standalone.events is not None and self.standalone.events.is_read

    @property
    def supports_priming(self) -> bool:
        """True if the client supports events without data, which carry an id to resume with."""
        return self.connection.protocol_version >= _PRIMED_SINCE

    def answer_request(
        self, reply: DispatchContext[TransportContext], method: str, params: dict[str, Any] | None
    ) -> Awaitable[dict[str, Any]]:
        """Answer one of its requests."""
        if method == "initialize" and params is not None:
            params = kept_client_params(params)
        answered = self._door.answer_request(self.runner, reply, method, params)
        return self._answer_and_save(answered) if method in _CHANGING else answered

    async def _answer_and_save(self, answered: Awaitable[dict[str, Any]]) -> dict[str, Any]:
        result = await answered
        await self.save()
        return result

    async def save(self) -> None:
        """Save its current state, so that it survives the process."""
        await self._keep(self)

    def to_json(self) -> dict[str, Any]:
        """Return the state that `restore` reads, for a session whose handshake is done."""
        client = self.connection.client_params
        assert client is not None  # noqa: S101 - the handshake is done
        shown = client.model_dump(by_alias=True, mode="json", exclude_none=True)
        return {
            "version": self.connection.protocol_version,
            "client": shown,
            "wishes": _wishes.dump_python(self.caller.wishes),
            "mark": self.caller.mark,
        }

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Continue the session of an earlier process.

        Raises:
            KeyError, ValidationError: A version with another format saved it.
        """
        client = InitializeRequestParams.model_validate(kept["client"], by_name=False)
        wishes = _wishes.validate_python(kept.get("wishes", {}))
        self.caller.wishes.log_level = wishes.log_level
        self.caller.wishes.resources = wishes.resources
        if mark := kept.get("mark"):
            self.caller = replace(self.caller, mark=mark)
        protocol_version = kept["version"]
        self.connection.client_params = client
        self.connection.protocol_version = protocol_version
        self.connection.initialized.set()

    async def send_request(
        self, stream: MessageStream, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> dict[str, Any]:
        """Send the client a request on a stream, and wait for the response that it posts.

        Raises:
            MCPError: The client responds with an error, or not in time.
        """
        request_id = f"agentcore-{next(self._numbers)}"
        answer = self._asked[request_id] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {})}
        stream.send(to_json(message))
        try:
            async with asyncio.timeout((opts or {}).get("timeout", _ANSWER_SECONDS)):
                answered: dict[str, Any] = await answer
                return answered
        except TimeoutError as exc:
            raise MCPError(REQUEST_TIMEOUT, f"the client did not answer {method} in time") from exc
        finally:
            del self._asked[request_id]

    def accept_response(self, message: JSONRPCResponse | JSONRPCError) -> None:
        """Handle a response that the client posted; one that is not expected, or came already, is dropped."""
        waiting = self._asked.get(str(message.id))
        if waiting is None or waiting.done():
            return
        if isinstance(message, JSONRPCError):
            waiting.set_exception(MCPError.from_jsonrpc_error(message))
        else:
            waiting.set_result(message.result)

    async def cancel_request(self, request_id: RequestId) -> None:
        """Cancel a request at the client's request, even if its connection was lost; unknown ids are ignored."""
        if (work := self.in_flight.get(request_id)) is not None:
            self.caller.departures.record_reason(request_id, "cancelled")
            work.cancel()
        else:
            await self._door.calls.cancel_request(self.caller.session_id, request_id)

    def end(self) -> None:
        """End its streams and requests."""
        self.caller.departures.is_over = True
        for task in tuple(self.in_flight.values()):
            task.cancel()
        self.streams.close()
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.cancel()


def encode_notification(method: str, params: Mapping[str, Any] | None) -> bytes:
    """Return a notification as JSON text."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return to_json(message | {"params": dict(params)} if params else message)


TEXT_CHARS = 200
"""Maximum length of a name, title, version or revision; longer ones are truncated."""

_TEXT = object()
_FLAG = object()
_KINDS = object()
_KNOWN: Mapping[str, Any] = {
    "protocolVersion": _TEXT,
    "clientInfo": {"name": _TEXT, "title": _TEXT, "version": _TEXT},
    "capabilities": {
        "sampling": {"context": {}, "tools": {}},
        "elicitation": {"form": {}, "url": {}},
        "roots": {"listChanged": _FLAG},
        "extensions": {VIEWS_EXTENSION: {"mimeTypes": _KINDS}},
    },
}


def kept_client_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `initialize` without what the server does not use, and with long texts truncated.

    Values whose types MCP does not allow are returned unchanged, for the SDK to refuse them.
    """
    kept: dict[str, Any] = _kept(params, _KNOWN)
    return kept


def _kept(value: Any, known: Any) -> Any:
    if known is _KINDS:
        return [VIEW_MIME] if isinstance(value, list) and VIEW_MIME in value else []
    if known is _TEXT and isinstance(value, str):
        return value[:TEXT_CHARS]
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        return {name: _kept(value[name], part) for name, part in known.items() if name in value}
    return value
