"""What waits to be sent over a link: all that is said, and one piece of a blob."""

import asyncio
from collections import deque

from agentcore.hosts.wire.peer import Peer

_FLOOD_BYTES = 256 * 1024 * 1024


class Outgoing:
    """Takes what a peer sends, and keeps it until a writer has room for it.

    Whoever writes clears `_news` before it looks at what waits, so that nothing that comes meanwhile is missed, and
    sets `_sent` when the piece has gone.
    """

    peer: Peer

    def __init__(self) -> None:
        self._texts: deque[bytes] = deque()
        self._held_bytes = 0
        self._piece: bytes | None = None
        self._news, self._sent = asyncio.Event(), asyncio.Event()
        self._is_closing = self._is_lost = False

    def send_text(self, data: bytes) -> None:
        """See `Transport`."""
        self._texts.append(data)
        self._held_bytes += len(data)
        self._news.set()
        if self._held_bytes > _FLOOD_BYTES:
            self._texts.clear()
            self.peer.close("the other side takes nothing any more")

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
        """See `Transport`: what waits is sent before."""
        self._is_closing = True
        self._news.set()

    def _pop_text(self) -> bytes:
        """The next that was said."""
        data = self._texts.popleft()
        self._held_bytes -= len(data)
        return data

    def _pop_chunk(self) -> bytes:
        """The piece that waits; `_sent` is set once it has gone."""
        assert self._piece is not None  # noqa: S101 - whoever takes it has looked
        part, self._piece = self._piece, None
        return part

    def _mark_lost(self) -> None:
        """Nothing is sent any more; whoever waits is told."""
        self._is_lost = True
        self._sent.set()
