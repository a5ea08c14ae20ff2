"""The answer to one request of a client: JSON if there is nothing to tell on the way, else a stream of events."""

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import JSONRPCRequest, ProgressToken, RequestId

from agentcore.encoding import to_json
from agentcore.mcp import Caller
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.response import Answer, LateAnswer, Sent
from agentcore.server.http.unread_answers import room_for_answer
from agentcore.server.mcp.resuming import CutOff, ResumableStream
from agentcore.server.mcp.session import McpSession, encode_notification

SESSION_ID = "Mcp-Session-Id"
_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=True)
_ONE_WAY = TransportContext(kind="streamable-http", can_send_request=False)


def progress_of(token: ProgressToken, progress: float, total: float | None, message: str | None) -> dict[str, Any]:
    """What a client is told of how far a request is."""
    told = {"progressToken": token, "progress": progress, "total": total, "message": message}
    return {name: value for name, value in told.items() if value is not None}


def reply_context(
    caller: Caller, request: JSONRPCRequest, *, can_ask: bool
) -> tuple[TransportContext, ServerMessageMetadata, anyio.Event, ProgressToken | None]:
    """What the SDK wants to know of a request over a pipe."""
    transport = TransportContext(kind="stdio", can_send_request=can_ask)
    metadata = ServerMessageMetadata(request_context=caller)
    return transport, metadata, anyio.Event(), progress_token_from_params(request.params)


class NotificationContext:
    """Implements the SDK's `DispatchContext` for a notification, which is not answered."""

    transport = _TRANSPORT
    can_send_request = False
    request_id: RequestId | None = None

    def __init__(self, session: McpSession) -> None:
        self.message_metadata = ServerMessageMetadata(request_context=session.caller)
        self.cancel_requested = anyio.Event()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Nothing can be asked here.

        Raises:
            NoBackChannelError: Always.
        """
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Nothing can be told here."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Nothing is on its way."""


class Reply:
    """Implements the SDK's `DispatchContext` for one request over HTTP, on whose way the client cannot be asked.

    Args:
        exchange: The HTTP request.
        caller: Who asks.
        request: What it asks.
        headers: Further headers of the answer.
    """

    transport = _ONE_WAY

    def __init__(
        self, exchange: Exchange, caller: Caller, request: JSONRPCRequest, headers: Mapping[str, str] | None = None
    ) -> None:
        self._exchange = exchange
        self._headers = headers
        self._token = progress_token_from_params(request.params)
        self._stream: RawStream | ResumableStream | None = None
        self._has_ended = False
        self.request_id: RequestId | None = request.id
        self.message_metadata = ServerMessageMetadata(request_context=caller)

    @cached_property
    def cancel_requested(self) -> anyio.Event:
        """Never set: who cancels ends the task. Made when it is wanted, for it costs more than all else here."""
        return anyio.Event()

    @property
    def can_send_request(self) -> bool:
        """Whether the client can be asked something on the way."""
        return False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Nothing can be asked here.

        Raises:
            NoBackChannelError: Always.
        """
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Tell the client something on the way; who reads too slowly misses it."""
        if not self._has_ended and not (self._stream is not None and self._stream.is_behind):
            self.open_stream().send(encode_notification(method, params))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is, if the client wants to know."""
        if self._token is not None:
            await self.notify("notifications/progress", progress_of(self._token, progress, total, message))

    def open_stream(self) -> RawStream | ResumableStream:
        """The stream; what is not begun begins."""
        if self._stream is None:
            self._stream = self._prepare_stream(RawStream(self._exchange.request, EVENT_STREAM, headers=self._headers))
        return self._stream

    def _prepare_stream(self, stream: RawStream) -> RawStream | ResumableStream:
        return stream

    def keep_alive(self) -> None:
        """Show that it goes on, so that nobody on the way takes it for dead."""
        self.open_stream().write(b": alive\n\n")

    async def finish(self, message: Mapping[str, Any], status: int = 200) -> Answer | Sent:
        """Send the end of it, once its client has read enough of other answers.

        Args:
            message: The result, or the error.
            status: Counts where nothing was sent before.
        """
        self._has_ended = True
        if self._stream is None:
            return LateAnswer(lambda: to_json(message), status, self._headers)
        try:
            async with room_for_answer(self._exchange.request):
                return _end_stream(self._stream, message)
        except ConnectionError:  # kept, where a client may come back for it
            return _end_stream(self._stream, message)

    def break_off(self) -> Answer | Sent:
        """End it without an answer, for nobody is there."""
        self._has_ended = True
        return self._stream.break_off() if isinstance(self._stream, RawStream) else Sent()


def _end_stream(stream: RawStream | ResumableStream, message: Mapping[str, Any]) -> Sent:
    stream.send(to_json(message))
    return stream.end()


class SessionReply(Reply):
    """The same for a session that began with a handshake: the client can be asked on the way.

    Args:
        exchange: The HTTP request.
        session: Whose it is.
        request: What it asks.
    """

    transport = _TRANSPORT

    def __init__(self, exchange: Exchange, session: McpSession, request: JSONRPCRequest) -> None:
        super().__init__(exchange, session.caller, request, {SESSION_ID: session.caller.session_id})
        self._session = session
        self._heir: SessionReply | None = None

    @property
    def can_send_request(self) -> bool:
        """Whether the client can be asked something on the way."""
        return not self._has_ended

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the client something on the way.

        Raises:
            MCPError: It answers with an error, or not in time.
        """
        if self._heir is not None:
            return await self._heir.send_raw_request(method, params, opts)
        if self._has_ended:
            raise NoBackChannelError(method)
        return await self._session.send_request(self.open_stream(), method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Tell the client something on the way; who reads too slowly misses it."""
        if self._heir is not None:
            await self._heir.notify(method, params, opts)
        else:
            await super().notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is, if the client wants to know."""
        if self._heir is not None:
            await self._heir.progress(progress, total, message)
        else:
            await super().progress(progress, total, message)

    # -- a client that is cut off ------------------------------------------------------------------------------

    def lose_client(self, key: bytes | None, work: "asyncio.Future[dict[str, Any]]") -> None:
        """The connection has ended. A client that knows of the stream has a while to come back for it.

        Args:
            key: What it calls, with what; None: it is no call.
            work: Gives the result; cancelled when the client does not come, and at once where it cannot.
        """
        if not isinstance(self._stream, ResumableStream) or not self._stream.has_ids:
            work.cancel()
            return
        if key is not None:
            self._stream.cut_off = CutOff(key, work, self._hand_over)
        self._stream.on_left = work.cancel
        self._stream.detach_request()

    def _hand_over(self, heir: "SessionReply") -> None:
        self._heir = heir
        if self.request_id is not None and heir.request_id is not None:
            self._session.caller.departures.hand_over(self.request_id, heir.request_id)
        if isinstance(self._stream, ResumableStream):
            self._stream.close()

    async def finish(self, message: Mapping[str, Any], status: int = 200) -> Answer | Sent:
        """Send the end of it, if nobody else does."""
        if self._heir is not None:
            return self.break_off()
        return await super().finish(message, status)

    def _prepare_stream(self, stream: RawStream) -> RawStream | ResumableStream:
        events = self._session.streams.open_stream()
        events.attach_response(stream)
        if self._session.supports_priming:
            events.send_priming_event()
        return events
