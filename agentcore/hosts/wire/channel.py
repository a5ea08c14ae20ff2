"""A one-way channel that ends at some point, such as the body of a response or the messages of a WebSocket.

The sender starts with some credit, and gets more as the other side consumes the data: a slow reader slows its
writer, and nothing accumulates between them.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Peer

ROOM_BYTES = 1024 * 1024
"""How much data may be in flight that was not consumed yet."""

_TEXT_COST = 64


class Outlet:
    """The end of a channel that sends.

    Args:
        number: The channel's, as both sides know it.
    """

    def __init__(self, peer: Peer, number: int, kind: str) -> None:
        self._peer = peer
        self._number = number
        self._kind = kind
        self._room = ROOM_BYTES
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_over = False

    async def send(self, data: str | bytes) -> None:
        """Send a chunk, once there is credit for it.

        Raises:
            ConnectionError: The other side accepts no more.
        """
        while self._room <= 0 and not self._is_over:
            self._has_room.clear()
            await self._has_room.wait()
        if self._is_over or self._peer.ended is not None:
            raise ConnectionResetError("the other side is gone")
        self._room -= len(data) + _TEXT_COST
        message: dict[str, Any] = {"type": self._kind, "channel": self._number}
        try:
            message |= {"text": data} if isinstance(data, str) else {"blob": await self._peer.send_blob(data)}
        except LinkError as exc:
            raise ConnectionResetError(str(exc)) from exc
        self._peer.send_message(message)

    def add_credit(self, size: int) -> None:
        """Add credit for data that the other side has consumed."""
        self._room = min(self._room + size, ROOM_BYTES)
        if self._room > 0:
            self._has_room.set()

    def close(self) -> None:
        """Close it: the other side accepts no more."""
        self._is_over = True
        self._has_room.set()


class Inlet:
    """The receiving end of a channel; iterating yields the chunks until the other side ends it."""

    def __init__(self, peer: Peer, number: int, credit: str) -> None:
        self._peer = peer
        self._number = number
        self._credit = credit
        self._held: deque[str | bytes] = deque()
        self._held_bytes = 0
        self._news = asyncio.Event()
        self._is_over = False
        self._broken: Exception | None = None

    def feed(self, data: str | bytes) -> None:
        """Add a chunk that arrived.

        Raises:
            LinkError: It exceeds the credit.
        """
        if self._is_over:
            return
        self._held.append(data)
        self._held_bytes += len(data) + _TEXT_COST
        if self._held_bytes > 2 * ROOM_BYTES + len(data):
            raise LinkError("more than a channel has room for")
        self._news.set()

    def feed_eof(self, broken: Exception | None = None) -> None:
        """Mark the end of the data; `broken` is raised to the reader, after the data."""
        self._is_over = True
        self._broken = broken
        self._news.set()

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        while True:
            while self._held:
                data = self._held.popleft()
                self._held_bytes -= len(data) + _TEXT_COST
                self._peer.send_message({"type": self._credit, "channel": self._number, "size": len(data) + _TEXT_COST})
                yield data
            if self._is_over:
                if self._broken is not None:
                    raise self._broken
                return
            self._news.clear()
            await self._news.wait()
