"""A link over NATS: `Transport` of a peer.

NATS either delivers what one program publishes in order or loses it. Each frame has a number, so that a missing one
ends the link; lost messages are recovered over the next one.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agentcore.api.host_kinds import PIECE_BYTES, PIECE_HEADER_BYTES, TEXT_BYTES, FrameQueue, MakePeer
from agentcore_nats_hosts.connection import NatsConnection

if TYPE_CHECKING:
    from nats.aio.msg import Msg

_HEADER = struct.Struct("!BQ")
_PART, _TEXT, _PIECE, _TAKEN, _CLOSE = range(1, 6)
PART_BYTES = 512 * 1024
"""The largest frame: NATS servers accept one MiB, unless configured otherwise."""

_PIECES_AHEAD = 32
_PIECES_TAKEN = 16
"""How many chunks of blobs may be in flight, and after how many the other side confirms them: NATS itself
would accept any number, and drop what a slow reader does not read."""


class NatsLink(FrameQueue):
    """Carries the frames of one peer.

    Args:
        nats: The connection to NATS.
        incoming: The subject of what the other side says.
        outgoing: The subject of what this side says.
        on_ready: Called when whatever the other side says from now on is heard.
        make: Makes the peer.
    """

    def __init__(
        self,
        nats: NatsConnection,
        incoming: str,
        outgoing: str,
        on_ready: Callable[[], Awaitable[None]],
        make: MakePeer,
    ) -> None:
        super().__init__()
        self._nats = nats
        self._incoming = incoming
        self._outgoing = outgoing
        self._on_ready = on_ready
        self._taken = self._number = self._received = 0
        self._parts: list[bytes] = []
        self._part_bytes = 0
        self._ahead = _PIECES_AHEAD
        self._over = asyncio.Event()
        self._reason = "the connection was lost"
        self.peer = make(self)

    async def carry_frames(self) -> None:
        """Carry frames until the link ends; the peer ends with it."""
        loop = asyncio.get_running_loop()
        writer: asyncio.Task[None] | None = None
        lost = self._nats.on_lost(lambda: self.abort("the connection to NATS was lost"))
        try:
            async with self._nats.subscribe(self._incoming, self._receive_message):
                await self._on_ready()
                # in no TaskGroup: its end is the end of the link
                writer = loop.create_task(self._write_frames(), name="link:nats")
                await self._over.wait()
        except ConnectionError as exc:
            self._reason = str(exc)
        finally:
            lost()
            self._mark_lost()
            if writer is not None:
                writer.cancel()
                await asyncio.wait({writer})
            self.peer.abort(self._reason)

    def abort(self, reason: str) -> None:
        """Close the link because the other side is known to be gone."""
        if not self._over.is_set():
            self._reason = reason
            self._over.set()

    # -- sending ------------------------------------------------------------------------------------------------

    async def _write_frames(self) -> None:
        """Send waiting frames: all messages first, then a chunk, if the other side has credit for one."""
        try:
            while not (self._is_closing and not self._texts):
                self._news.clear()
                while self._texts:
                    await self._send_in_parts(self._pop_text())
                if self._taken >= _PIECES_TAKEN:
                    taken = self._taken
                    self._taken = 0
                    await self._send_frame(_TAKEN, struct.pack("!I", taken))
                if self._piece is not None and self._ahead > 0:
                    self._ahead -= 1
                    await self._send_frame(_PIECE, self._pop_chunk())
                    self._sent.set()
                elif not self._is_closing:
                    await self._news.wait()
            await self._send_frame(_CLOSE, b"")
            await self._nats.flush()
        except ConnectionError as exc:
            self.abort(str(exc))
        self._over.set()

    async def _send_in_parts(self, data: bytes) -> None:
        for begin in range(0, len(data), PART_BYTES):
            is_last = begin + PART_BYTES >= len(data)
            await self._send_frame(_TEXT if is_last else _PART, data[begin : begin + PART_BYTES])

    async def _send_frame(self, kind: int, payload: bytes) -> None:
        self._number += 1
        await self._nats.publish(self._outgoing, _HEADER.pack(kind, self._number) + payload)

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _receive_message(self, message: "Msg") -> None:
        if self._over.is_set():
            return
        data = message.data
        if len(data) < _HEADER.size:
            self.peer.close("a frame that is too short for its header")
            return
        kind, number = _HEADER.unpack_from(data)
        self._received += 1
        if number != self._received:
            self.abort(f"{number - self._received} frames were lost on their way")
            return
        self._receive_frame(kind, data[_HEADER.size :])

    def _receive_frame(self, kind: int, payload: bytes) -> None:
        if kind == _TEXT and not self._parts:
            self.peer.receive_text(payload)
        elif kind in (_TEXT, _PART):
            self._part_bytes += len(payload)
            if self._part_bytes > TEXT_BYTES:
                self.peer.close(f"a message of more than {TEXT_BYTES:,} bytes")
                return
            self._parts.append(payload)
            if kind == _TEXT:
                whole = b"".join(self._parts)
                self._parts = []
                self._part_bytes = 0
                self.peer.receive_text(whole)
        elif kind == _PIECE and len(payload) <= PIECE_BYTES + PIECE_HEADER_BYTES:
            self._taken += 1
            self._news.set()
            self.peer.receive_binary(payload)
        elif kind == _TAKEN and len(payload) == 4:  # noqa: PLR2004 - as it is packed
            self._ahead = min(self._ahead + struct.unpack("!I", payload)[0], _PIECES_AHEAD)
            self._news.set()
        elif kind == _CLOSE:
            self.abort("the connection was closed")
        else:
            self.peer.close(f"a frame of kind {kind} and {len(payload):,} bytes: this is not the protocol of hosts")
