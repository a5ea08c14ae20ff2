"""A link over a WebSocket, of a client or of a server: `Transport` of a peer."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from agentcore.remote.wire.frames import PIECE_BYTES, PIECE_HEADER_BYTES, TEXT_BYTES
from agentcore.remote.wire.peer import Peer

SOCKET_PATH = "/api/hosts/socket"
"""Where a server lets hosts of other machines dial in."""

MESSAGE_BYTES = max(TEXT_BYTES, PIECE_BYTES + PIECE_HEADER_BYTES)
"""The largest message of the WebSocket."""

HEARTBEAT_SECONDS = 15.0
"""How often each side looks whether the other one is there still, while nothing comes; it may take half of that."""

CLOSE_SECONDS = 5.0
"""How long to wait for the other side to close, too."""

_FLOOD_BYTES = 256 * 1024 * 1024


class WebSocket(Protocol):
    """What both kinds of aiohttp's WebSockets have; iterating gives what comes until it is closed."""

    async def send_str(self, data: str) -> None:
        """Send a text message, once there is room."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message, once there is room."""
        ...

    async def close(self) -> Any:
        """Close it in order."""
        ...

    def __aiter__(self) -> AsyncIterator[Any]: ...


class SocketLink:
    """Carries the frames of one peer: what is said as text, pieces of blobs as binary messages between them.

    Args:
        make: Makes the peer.
    """

    def __init__(self, socket: WebSocket, make: Callable[["SocketLink"], Peer]) -> None:
        self._socket = socket
        self._texts: deque[bytes] = deque()
        self._held_bytes = 0
        self._news, self._sent = asyncio.Event(), asyncio.Event()
        self._piece: bytes | None = None
        self._is_closing = self._is_lost = False
        self.peer = make(self)

    async def carry(self) -> None:
        """Carry frames until the connection ends; the peer ends with it."""
        # in no TaskGroup: an error of the writer is the end of the connection, which the reader sees
        writer = asyncio.get_running_loop().create_task(self._write(), name="link:socket")
        reason = "the connection was lost"
        try:
            async for message in self._socket:
                if isinstance(message.data, str):
                    self.peer.receive_text(message.data.encode("utf-8", "surrogatepass"))
                elif isinstance(message.data, bytes):
                    self.peer.receive_binary(message.data)
                else:
                    reason = f"the connection was lost: {message.data}"
                    break
        except ConnectionError as exc:
            reason = f"the connection was lost: {exc}"
        finally:
            self._is_lost = True
            self._sent.set()
            writer.cancel()
            self.peer.lose(reason)

    def send_text(self, data: bytes) -> None:
        """See `Transport`."""
        self._texts.append(data)
        self._held_bytes += len(data)
        self._news.set()
        if self._held_bytes > _FLOOD_BYTES:
            self._texts.clear()
            self.peer.end("the other side takes nothing any more")

    async def send_binary(self, data: bytes) -> None:
        """See `Transport`."""
        if self._is_lost:
            raise ConnectionResetError("the connection was lost")
        self._sent.clear()
        self._piece = data
        self._news.set()
        await self._sent.wait()
        if self._is_lost:
            raise ConnectionResetError("the connection was lost")

    def close(self) -> None:
        """See `Transport`: what waits is sent before."""
        self._is_closing = True
        self._news.set()

    async def _write(self) -> None:
        """Send what waits: all that is said first, then a piece."""
        try:
            while True:
                while self._texts:
                    data = self._texts.popleft()
                    self._held_bytes -= len(data)
                    await self._socket.send_str(data.decode())
                if self._piece is not None:
                    part, self._piece = self._piece, None
                    await self._socket.send_bytes(part)
                    self._sent.set()
                    continue
                if self._is_closing:
                    break
                self._news.clear()
                if not self._texts and self._piece is None:
                    await self._news.wait()
        except ConnectionError:
            return  # the reader tells of it
        finally:
            self._is_lost = True
            self._sent.set()
        await self._socket.close()
