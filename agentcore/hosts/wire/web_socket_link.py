"""A link over a WebSocket, of a client or of a server: `Transport` of a peer."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from agentcore.api.host_kinds.frames import PIECE_BYTES, PIECE_HEADER_BYTES, TEXT_BYTES
from agentcore.api.host_kinds.outgoing import FrameQueue
from agentcore.hosts.wire.peer import Peer

SOCKET_PATH = "/api/hosts/socket"
"""The path at which hosts of other machines dial in."""

MESSAGE_BYTES = max(TEXT_BYTES, PIECE_BYTES + PIECE_HEADER_BYTES)
"""The largest message of the WebSocket."""

UNPAIRED_MESSAGE_BYTES = PIECE_BYTES + PIECE_HEADER_BYTES + 1
"""The size limit of a message from a host that is not paired: its greeting, or a chunk of what it provides."""

HEARTBEAT_SECONDS = 15.0
"""How often each side pings the other one, while nothing arrives; the reply may take half of that."""

CLOSE_SECONDS = 5.0
"""How long to wait for the other side to close, too."""


class WebSocket(Protocol):
    """The common methods of both kinds of aiohttp's WebSockets; iterating yields messages until it is closed."""

    async def send_str(self, data: str) -> None:
        """Send a text message, once the socket accepts it."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message, once the socket accepts it."""
        ...

    async def close(self) -> Any:
        """Close it in order."""
        ...

    def __aiter__(self) -> AsyncIterator[Any]: ...


class SocketLink(FrameQueue):
    """Carries the frames of one peer: messages as text, chunks of blobs as binary messages between them.

    Args:
        make: Creates the peer.
    """

    def __init__(self, socket: WebSocket, make: Callable[["SocketLink"], Peer]) -> None:
        super().__init__()
        self._socket = socket
        self.peer = make(self)

    async def carry_frames(self) -> None:
        """Carry frames until the connection ends; the peer ends with it."""
        # in no TaskGroup: an error of the writer is the end of the connection, which the reader sees
        writer = asyncio.get_running_loop().create_task(self._write_frames(), name="link:socket")
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
            self._mark_lost()
            writer.cancel()
            self.peer.abort(reason)

    async def _write_frames(self) -> None:
        """Send waiting frames: all messages first, then a chunk."""
        try:
            while not (self._is_closing and not self._texts and self._piece is None):
                self._news.clear()
                while self._texts:
                    await self._socket.send_str(self._pop_text().decode())
                if self._piece is not None:
                    await self._socket.send_bytes(self._pop_chunk())
                    self._sent.set()
                elif not self._is_closing:
                    await self._news.wait()
        except ConnectionError:
            return  # the reader reports it
        finally:
            self._mark_lost()
        await self._socket.close()
