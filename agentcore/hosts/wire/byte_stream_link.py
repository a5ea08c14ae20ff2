"""A link over a stream of bytes, such as a Unix socket: `Transport` of a peer, and asyncio's protocol below it."""

import asyncio
from collections.abc import Callable

from agentcore.hosts.wire.frames import BINARY, TEXT, FrameReader, Kind, LinkError, encode_frame
from agentcore.hosts.wire.peer import Peer

_ROOM_BYTES = 256 * 1024
_BUFFER_BYTES = 128 * 1024
_FLOOD_BYTES = 256 * 1024 * 1024


class StreamLink(asyncio.BufferedProtocol):
    """Carries the frames of one peer.

    Args:
        make: Makes the peer when the stream is there.
    """

    peer: Peer
    _transport: asyncio.Transport

    def __init__(self, make: Callable[["StreamLink"], Peer]) -> None:
        self._make = make
        self._reader = FrameReader(self._receive_frame)
        self._buffer = bytearray(_BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self._room = asyncio.Event()
        self._room.set()
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - a socket's
        self._transport = transport
        transport.set_write_buffer_limits(high=_ROOM_BYTES)
        self.peer = self._make(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """See `asyncio.BufferedProtocol`: one buffer for all, which avoids a large one for each message."""
        return self._view

    def buffer_updated(self, nbytes: int) -> None:
        try:
            self._reader.feed(bytes(self._view[:nbytes]))
        except LinkError as exc:
            self.peer.close(str(exc))

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._room.set()
        self.peer.abort("the connection was lost" if exc is None else f"the connection was lost: {exc}")

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def send_text(self, data: bytes) -> None:
        self._transport.write(encode_frame(TEXT, data))
        if self._transport.get_write_buffer_size() > _FLOOD_BYTES:
            self.peer.close("the other side does not receive any more")

    async def send_binary(self, data: bytes) -> None:
        await self._room.wait()
        if self._is_lost:
            raise ConnectionResetError("the connection was lost")
        self._transport.write(encode_frame(BINARY, data))

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        """End the connection without sending what waits."""
        self._transport.abort()

    def _receive_frame(self, kind: Kind, payload: bytes) -> None:
        if kind == TEXT:
            self.peer.receive_text(payload)
        else:
            self.peer.receive_binary(payload)
