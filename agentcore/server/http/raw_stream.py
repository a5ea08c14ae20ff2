"""A response of unknown length, written in chunks straight to the connection."""

import asyncio
from collections.abc import Mapping

from aiohttp import web

from agentcore.server.http.cross_origin import cross_origin_head
from agentcore.server.http.response import Sent, head_bytes
from agentcore.server.http.server_limits import STREAM_BUFFER_BYTES

EVENT_STREAM = "text/event-stream"
_HTTP_1_1 = (1, 1)
_LAST_CHUNK = b"0\r\n\r\n"


class RawStream:
    """A response that is chunked, unless its length is known; with HTTP/1.0 it ends when the connection closes.

    Args:
        request: The request that it answers.
        content_type: Media type.
        status: HTTP status.
        headers: Further headers.
        length: Number of bytes that will be sent, if known.
    Raises:
        ConnectionError: The client has gone.
    """

    __slots__ = ("_has_ended", "_keep_alive", "_request", "is_chunked", "transport")

    def __init__(
        self,
        request: web.BaseRequest,
        content_type: str = EVENT_STREAM,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client has gone")
        self.transport: asyncio.Transport = transport
        self.is_chunked = length is None and request.version >= _HTTP_1_1
        self._keep_alive = request.version >= _HTTP_1_1 and request.keep_alive
        self._request = request
        self._has_ended = False
        framing = b"Transfer-Encoding: chunked\r\n" if self.is_chunked else b""
        if length is not None:
            framing = b"Content-Length: %d\r\n" % length
        closing = b"" if self._keep_alive else b"Connection: close\r\n"
        head = head_bytes(status, content_type, headers) + cross_origin_head(request)
        transport.write(head + framing + closing + b"\r\n")

    @property
    def is_behind(self) -> bool:
        """True while the reader is too far behind to buffer more for it."""
        return self.transport.get_write_buffer_size() > STREAM_BUFFER_BYTES

    def write(self, data: bytes) -> None:
        """Send a chunk, unless it is empty. Never waits, never fails.

        After the end nothing is sent: the connection may already carry the next response.
        """
        if data and not self._has_ended and not self.transport.is_closing():
            self.transport.write(encode_chunk(data) if self.is_chunked else data)

    def send(self, message: bytes) -> None:
        """Send a message as an event. Never waits, never fails."""
        self.write(encode_event("message", message))

    async def drain(self) -> None:
        """Wait until the reader has read most of what was sent.

        Raises:
            ConnectionError: The client has gone.
        """
        if self.transport.is_closing():
            raise ConnectionResetError("the client has gone")
        await self._request.writer.drain()

    def end(self) -> Sent:
        """End the response."""
        if self.is_chunked and not self.transport.is_closing():
            self.transport.write(_LAST_CHUNK)
        self._has_ended = True
        return Sent(keep_alive=self._keep_alive)

    def break_off(self) -> Sent:
        """End without the final chunk, so that the reader notices that something is missing."""
        self._has_ended = True
        return Sent(keep_alive=False)


def encode_chunk(data: bytes) -> bytes:
    """Return one chunk of the chunked transfer coding (RFC 9112, 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def encode_event(event: str, data: bytes, event_id: str = "") -> bytes:
    """Return one event of an event stream; `data` must not contain a line end.

    Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
    """
    head = f"id: {event_id}\nevent: {event}\n" if event_id else f"event: {event}\n"
    return b"%bdata: %b\n\n" % (head.encode(), data)
