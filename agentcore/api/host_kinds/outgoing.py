"""Frames that wait to be sent over a link: all messages, and one chunk of a blob."""

import asyncio
from collections import deque

from agentcore.api.host_kinds.frames import FramePeer

_FLOOD_BYTES = 256 * 1024 * 1024


class FrameQueue:
    """The sending half of a `Transport`: accepts what a peer sends, and stores it until a writer can send it.

    The writer clears `_news` before it checks what waits, so that nothing that arrives meanwhile is missed, and
    sets `_sent` when the chunk was sent.

    Attributes:
        peer: The peer that sends; set by the subclass.
    """

    peer: FramePeer

    def __init__(self) -> None:
        self._texts: deque[bytes] = deque()
        self._held_bytes = 0
        self._piece: bytes | None = None
        self._news = asyncio.Event()
        self._sent = asyncio.Event()
        self._is_closing = self._is_lost = False

    def send_text(self, data: bytes) -> None:
        """See `Transport`; a peer whose frames are not sent is closed."""
        self._texts.append(data)
        self._held_bytes += len(data)
        self._news.set()
        if self._held_bytes > _FLOOD_BYTES:
            self._texts.clear()
            self.peer.close("the other side does not receive any more")

    async def send_binary(self, data: bytes) -> None:
        """See `Transport`."""
        if not self._is_lost:
            self._sent.clear()
            self._piece = data
            self._news.set()
            await self._sent.wait()
        if self._is_lost:
            raise ConnectionResetError("the connection was lost")

    def close(self) -> None:
        """See `Transport`: waiting frames are sent before."""
        self._is_closing = True
        self._news.set()

    def _pop_text(self) -> bytes:
        """Return the next message."""
        data = self._texts.popleft()
        self._held_bytes -= len(data)
        return data

    def _pop_chunk(self) -> bytes:
        """Return the waiting chunk; the writer sets `_sent` once it was sent."""
        assert self._piece is not None  # noqa: S101 - the caller has checked
        part = self._piece
        self._piece = None
        return part

    def _mark_lost(self) -> None:
        """Stop sending; waiting senders are notified."""
        self._is_lost = True
        self._sent.set()
