"""MCP over a pipe, one message per line in both directions. `agentcore mcp` forwards what a client's process writes."""

import asyncio
import json
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import anyio
import structlog
from mcp.server.runner import ServerRunner
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params, progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentcore.api import Background
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.mcp_endpoint.request_handler import McpEndpoint
from agentcore.server.http.json_text import JsonTextError, parse_json
from agentcore.server.http.server_limits import STREAM_BUFFER_BYTES, UNREAD_STALLED_SECONDS
from agentcore.server.mcp_transports.client_session import McpSession, encode_notification
from agentcore.server.mcp_transports.greeting import WAITING_MARK
from agentcore.server.mcp_transports.lines import MESSAGE_BYTES, Lines, TooLong
from agentcore.server.mcp_transports.mcp_messages import error_of, parse_message
from agentcore.server.mcp_transports.reply import NotificationContext, progress_of
from agentcore.server.mcp_transports.stateless import connection_of

log = structlog.get_logger(__name__)

_READ_BYTES = 256 * 1024
_ASKING = TransportContext(kind="stdio", can_send_request=True)
_ONE_WAY = TransportContext(kind="stdio", can_send_request=False)
_REQUESTS = 512
"""Maximum number of requests of one client in progress; more than the calls that it may have."""

_VALUE = rb'("(?:[^"\\]|\\.){1,100}"|-?\d{1,18})'
_ID_FIRST = re.compile(rb'\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*' + _VALUE)
_ID_LAST = re.compile(rb',\s*"id"\s*:\s*' + _VALUE + rb"\s*\}\s*$")


class Channel:
    """Sends messages into a pipe. Implements the `MessageStream` of a session.

    Args:
        writer: The pipe.
    """

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._transport = writer.transport
        self._transport.set_write_buffer_limits(high=STREAM_BUFFER_BYTES)

    @property
    def is_behind(self) -> bool:
        """True while the reader is too far behind to buffer more for it."""
        return self._transport.get_write_buffer_size() > STREAM_BUFFER_BYTES

    def send(self, message: bytes) -> None:
        """Send a message. Never waits, never fails."""
        if not self._transport.is_closing():
            self._transport.write(message + b"\n")

    async def mark_waiting(self, request_id: RequestId, is_waiting: bool) -> None:
        """Tell the relay whether a call only waits for the user, or is about to run.

        That it is about to run has left this process before this returns: if the server is killed then, the relay must
        not say that the call did not run.

        Raises:
            ToolError: `too_many_unread`: the client does not read.
        """
        self.send(encode_notification(WAITING_MARK, {"id": request_id, "isWaiting": is_waiting}))
        if is_waiting:
            return
        self._transport.set_write_buffer_limits(high=0)
        try:
            async with asyncio.timeout(UNREAD_STALLED_SECONDS):
                await self._writer.drain()
        except TimeoutError as exc:
            message = (
                "the client reads none of its answers, so the approved call was not run: read them, then call again"
            )
            raise ToolError("too_many_unread", message, retryable=True) from exc
        except ConnectionError:
            pass  # the client has gone, which ends its session
        finally:
            self._transport.set_write_buffer_limits(high=STREAM_BUFFER_BYTES)

    async def drain(self) -> None:
        """Wait while the client is behind with reading.

        Raises:
            ConnectionError: The client has gone.
        """
        await self._writer.drain()

    async def drain_unless_stalled(self) -> bool:
        """Wait while the client catches up with reading; False if it has read nothing for `UNREAD_STALLED_SECONDS`.

        Raises:
            ConnectionError: The client has gone.
        """
        while True:
            size_bytes = self._transport.get_write_buffer_size()
            try:
                async with asyncio.timeout(UNREAD_STALLED_SECONDS):
                    await self.drain()
            except TimeoutError:
                if self._transport.get_write_buffer_size() >= size_bytes:
                    return False
            else:
                return True


class Pipe:
    """One client on a pipe, from its first message to its end.

    Args:
        session: The client's session.
        door: Answers requests.
        reader: Receives what the client writes.
        channel: Sends messages to the client.
    """

    def __init__(
        self,
        session: McpSession,
        door: McpEndpoint,
        reader: asyncio.StreamReader,
        channel: Channel,
    ) -> None:
        self._session = session
        self._door = door
        self._reader = reader
        self._channel = channel
        session.standalone.stream = channel
        self._unsent: deque[dict[str, Any]] = deque()
        self._sending = Background("mcp:pipe")

    async def serve(self) -> None:
        """Answer messages until the pipe ends.

        Reading pauses while the client does not read its responses, which would otherwise fill the memory.

        Raises:
            ConnectionError: The client has gone.
        """
        try:
            await self._serve()
        finally:
            await self._sending.stop()

    async def _serve(self) -> None:
        lines = Lines()
        while data := await self._reader.read(_READ_BYTES):
            for line in lines.feed(data):
                if self._session.in_flight:
                    await asyncio.sleep(0)  # earlier requests that finish at once are answered first
                await self._channel.drain()
                await self._handle_line(line)

    async def _handle_line(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            text = f"the message has over {MESSAGE_BYTES:,} bytes, which is the bound"
            self._send_error(PARSE_ERROR, text, _id_in(line))
            return
        try:
            document = parse_json(line)
            message = parse_message(document)
        except JsonTextError as exc:
            self._send_error(PARSE_ERROR, f"the line is not JSON: {exc.message}")
        except ValueError:
            self._send_error(INVALID_REQUEST, "the line is no JSON-RPC message; send one a line")
        else:
            if isinstance(message, JSONRPCRequest):
                self._start_request(message, document)
            elif isinstance(message, JSONRPCNotification):
                await self._handle_notification(message)
            else:
                self._session.accept_response(message)

    def _start_request(self, request: JSONRPCRequest, document: dict[str, Any]) -> None:
        session = self._session
        if request.id in session.in_flight:
            self._send_error(INVALID_REQUEST, "a request with this id is being answered already", request.id)
            return
        if len(session.in_flight) >= _REQUESTS:
            message = f"{_REQUESTS} requests of this client are being answered already, which is the bound"
            self._send_error(INVALID_REQUEST, message, request.id)
            return
        runner = self._choose_runner(document)
        if isinstance(runner, InboundLadderRejection):
            self._send_error(runner.code, runner.message, request.id, runner.data)
            return
        reply = PipeReply(session, self._channel, request, can_ask=runner is session.runner)
        if runner is session.runner:
            answered = session.answer_request(reply, request.method, request.params)
        else:
            answered = self._door.answer_request(runner, reply, request.method, request.params)
        work = asyncio.ensure_future(answered)
        session.in_flight[request.id] = work
        work.add_done_callback(lambda done: self._finish_request(request, reply, done))

    def _choose_runner(self, document: dict[str, Any]) -> "ServerRunner[Any] | InboundLadderRejection":
        """Return what answers a request: the session, or a new runner for requests of the stateless revision.

        A request of the stateless revision contains everything that the runner needs.
        """
        params = document.get("params")
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        is_modern = isinstance(meta, Mapping) and meta.get(PROTOCOL_VERSION_META_KEY) is not None
        if self._session.connection.client_params is not None or not is_modern:
            return self._session.runner
        route = classify_inbound_request(document, supported_modern_versions=MODERN_PROTOCOL_VERSIONS)
        if isinstance(route, InboundLadderRejection):
            return route
        return ServerRunner(self._door.server, connection_of(route), {})

    def _finish_request(
        self, request: JSONRPCRequest, reply: "PipeReply", work: "asyncio.Future[dict[str, Any]]"
    ) -> None:
        reply.has_ended = True
        self._session.caller.departures.remove_request(request.id)
        if self._session.in_flight.get(request.id) is work:
            del self._session.in_flight[request.id]
        if work.cancelled():
            return  # the client has cancelled it and expects no response
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request.id}
        if (exc := work.exception()) is None:
            answer["result"] = work.result()
        else:
            answer["error"] = error_of(exc, request.method).model_dump(mode="json", exclude_none=True)
        if not self._unsent and not self._channel.is_behind:
            self._channel.send(to_json(answer))
            return
        self._unsent.append(answer)
        if len(self._unsent) == 1:
            self._sending.start(self._send_waiting())

    async def _send_waiting(self) -> None:
        """Send the delayed responses, each once the client has read most of the earlier ones."""
        with suppress(ConnectionError):
            while self._unsent:
                if await self._channel.drain_unless_stalled():
                    self._channel.send(to_json(self._unsent[0]))
                    self._unsent.popleft()
                else:
                    log.warning("mcp_answers_dropped", client=self._session.caller.principal.name)
                    self._unsent = deque(_dropped(answer) for answer in self._unsent)
        self._unsent.clear()

    async def _handle_notification(self, message: JSONRPCNotification) -> None:
        if message.method == "notifications/initialized":
            await self._session.save()
        if message.method != "notifications/cancelled":
            await self._session.runner.on_notify(NotificationContext(self._session), message.method, message.params)
            return
        cancelled = cancelled_request_id_from_params(message.params)
        if cancelled is not None:
            await self._session.cancel_request(cancelled)

    def _send_error(
        self, code: int, message: str, request_id: RequestId | None = None, data: Any | None = None
    ) -> None:
        error = ErrorData(code=code, message=message, data=data).model_dump(mode="json", exclude_none=True)
        self._channel.send(to_json({"jsonrpc": "2.0", "id": request_id, "error": error}))


def _dropped(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the error that replaces a response for which the client has made no room."""
    message = (
        f"the answer was dropped: the client had read none of those before for {UNREAD_STALLED_SECONDS:g} s. "
        "A call has run; check what it did before you send it once more"
    )
    error = ErrorData(code=INTERNAL_ERROR, message=message, data={"type": "result_dropped"})
    return {"jsonrpc": "2.0", "id": answer["id"], "error": error.model_dump(mode="json", exclude_none=True)}


def _id_in(line: TooLong) -> RequestId | None:
    """Return the id of a request that was not parsed: clients write it first or last."""
    head, tail = line.ends
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    request_id: RequestId | None = None if found is None else json.loads(found.group(1))
    return request_id


class PipeReply:
    """Implements the SDK's `DispatchContext` for one request over a pipe.

    Args:
        session: The session of the request.
        channel: Sends the response.
        request: The request.
        can_ask: True if requests can be sent to the client meanwhile.
    """

    def __init__(self, session: McpSession, channel: Channel, request: JSONRPCRequest, *, can_ask: bool) -> None:
        self._session = session
        self._channel = channel
        self._can_ask = can_ask
        self.has_ended = False
        self.request_id: RequestId | None = request.id
        self.transport = _ASKING if can_ask else _ONE_WAY
        self.message_metadata = ServerMessageMetadata(request_context=session.caller)
        self._token = progress_token_from_params(request.params)

    @cached_property
    def cancel_requested(self) -> anyio.Event:
        """Never set: cancellation cancels the task. Created on first use, as it costs more than the rest of a reply."""
        return anyio.Event()

    @property
    def can_send_request(self) -> bool:
        """True if a request can be sent to the client while it waits."""
        return self._can_ask and not self.has_ended

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send the client a request while it waits for the response.

        Raises:
            MCPError: The client responds with an error, or not in time.
        """
        if not self.can_send_request:
            raise NoBackChannelError(method)
        return await self._session.send_request(self._channel, method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send the client a notification while it waits; a client that reads too slowly misses it."""
        if not self.has_ended and not self._channel.is_behind:
            self._channel.send(encode_notification(method, params))

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send the client the progress, if it requested that."""
        if self._token is not None:
            await self.notify("notifications/progress", progress_of(self._token, progress, total, message))
