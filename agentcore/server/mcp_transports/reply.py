"""The response to one request of a client: JSON if there are no messages before the result, else an event stream."""

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
from agentcore.mcp_endpoint.caller import Caller
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import EVENT_STREAM, RawStream
from agentcore.server.http.response import Answer, LateAnswer, Sent
from agentcore.server.http.unread_answers import room_for_answer
from agentcore.server.mcp_transports.client_session import McpSession, encode_notification
from agentcore.server.mcp_transports.resuming import CutOff, ResumableStream

SESSION_ID = "Mcp-Session-Id"
_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=True)
_ONE_WAY = TransportContext(kind="streamable-http", can_send_request=False)


def progress_of(token: ProgressToken, progress: float, total: float | None, message: str | None) -> dict[str, Any]:
    """Return the parameters of a progress notification."""
    told = {"progressToken": token, "progress": progress, "total": total, "message": message}
    return {name: value for name, value in told.items() if value is not None}


class NotificationContext:
    """Implements the SDK's `DispatchContext` for a notification, which has no response."""

    transport = _TRANSPORT
    can_send_request = False
    request_id: RequestId | None = None

    def __init__(self, session: McpSession) -> None:
        self.message_metadata = ServerMessageMetadata(request_context=session.caller)
        self.cancel_requested = anyio.Event()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuse to send a request.

        Raises:
            NoBackChannelError: Always.
        """
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Do nothing: a notification has no response in which to send another."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Do nothing: a notification has no progress."""


class Reply:
    """Implements the SDK's `DispatchContext` for one request over HTTP that cannot send requests to the client.

    Args:
        exchange: The HTTP request.
        caller: The client.
        request: The request.
        headers: Further headers of the response.
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
        """Never set: cancellation cancels the task. Created on first use, as it costs more than the rest of a reply."""
        return anyio.Event()

    @property
    def can_send_request(self) -> bool:
        """False: no requests can be sent to the client."""
        return False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Refuse to send a request.

        Raises:
            NoBackChannelError: Always.
        """
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send the client a notification while it waits; a client that reads too slowly misses it."""
        if not self._has_ended and not (self._stream is not None and self._stream.is_behind):
            self.open_stream().send(encode_notification(method, params))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send the client the progress, if it requested that."""
        if self._token is not None:
            await self.notify("notifications/progress", progress_of(self._token, progress, total, message))

    def open_stream(self) -> RawStream | ResumableStream:
        """Return the event stream, which is opened on first use."""
        if self._stream is None:
            self._stream = self._prepare_stream(RawStream(self._exchange.request, EVENT_STREAM, headers=self._headers))
        return self._stream

    def _prepare_stream(self, stream: RawStream) -> RawStream | ResumableStream:
        return stream

    def keep_alive(self) -> None:
        """Show that the request is in progress, so that no proxy treats the connection as dead."""
        self.open_stream().write(b": alive\n\n")

    async def finish(self, message: Mapping[str, Any], status: int = 200) -> Answer | Sent:
        """Send the result or the error, once the client has read enough of other responses.

        Args:
            message: The result or the error.
            status: HTTP status, used if nothing was sent before.
        """
        self._has_ended = True
        if self._stream is None:
            return LateAnswer(lambda: to_json(message), status, self._headers)
        try:
            async with room_for_answer(self._exchange.request):
                return _end_stream(self._stream, message)
        except ConnectionError:  # stored, in case the client reconnects
            return _end_stream(self._stream, message)

    def break_off(self) -> Answer | Sent:
        """End without a response, because the client has gone."""
        self._has_ended = True
        return self._stream.break_off() if isinstance(self._stream, RawStream) else Sent()


def _end_stream(stream: RawStream | ResumableStream, message: Mapping[str, Any]) -> Sent:
    stream.send(to_json(message))
    return stream.end()


class SessionReply(Reply):
    """The same for a session that started with a handshake: requests can be sent to the client.

    Args:
        exchange: The HTTP request.
        session: The session of the request.
        request: The request.
    """

    transport = _TRANSPORT

    def __init__(self, exchange: Exchange, session: McpSession, request: JSONRPCRequest) -> None:
        super().__init__(exchange, session.caller, request, {SESSION_ID: session.caller.session_id})
        self._session = session
        self._heir: SessionReply | None = None

    @property
    def can_send_request(self) -> bool:
        """True if a request can be sent to the client while it waits."""
        return not self._has_ended

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send the client a request while it waits for the response.

        Raises:
            MCPError: The client responds with an error, or not in time.
        """
        if self._heir is not None:
            return await self._heir.send_raw_request(method, params, opts)
        if self._has_ended:
            raise NoBackChannelError(method)
        return await self._session.send_request(self.open_stream(), method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send the client a notification while it waits; a client that reads too slowly misses it."""
        if self._heir is not None:
            await self._heir.notify(method, params, opts)
        else:
            await super().notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send the client the progress, if it requested that."""
        if self._heir is not None:
            await self._heir.progress(progress, total, message)
        else:
            await super().progress(progress, total, message)

    # -- a client that is cut off ------------------------------------------------------------------------------

    def lose_client(self, key: bytes | None, work: "asyncio.Future[dict[str, Any]]") -> None:
        """Handle the loss of the connection. A client that has an id of the stream may reconnect for a while.

        Args:
            key: Identifies the tool and the arguments; None: it is not a call.
            work: Provides the result; cancelled if the client does not reconnect, or at once if it cannot.
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
        """Send the result or the error, unless another request has taken over the call."""
        if self._heir is not None:
            return self.break_off()
        return await super().finish(message, status)

    def _prepare_stream(self, stream: RawStream) -> RawStream | ResumableStream:
        events = self._session.streams.open_stream()
        events.attach_response(stream)
        if self._session.supports_priming:
            events.send_priming_event()
        return events
