"""Responses that a client has not read yet, and delaying further ones until it has."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web

from agentcore.server.http.server_limits import UNREAD_STALLED_SECONDS


class UnreadConnection(Protocol):
    """A connection whose unread bytes can be counted."""

    @property
    def transport(self) -> asyncio.BaseTransport | None:
        """The transport; None: the connection has ended."""
        ...


class UnreadAnswers:
    """Counts the bytes of one client's unread responses, and delays further ones, in order, until there is room.

    Only connections with more unread bytes than asyncio's high-water mark (64 KiB) are counted. The connections of
    delayed responses are closed once nothing was read for `UNREAD_STALLED_SECONDS`.

    Args:
        limit_bytes: While more bytes are unread, no further response is created. A response may exceed it itself.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._behind: set[UnreadConnection] = set()
        self._waiting: deque[tuple[asyncio.Future[None], UnreadConnection]] = deque()
        self._was_read = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def size_bytes(self) -> int:
        """Number of unread bytes."""
        transports = [connection.transport for connection in self._behind]
        return sum(each.get_write_buffer_size() for each in transports if isinstance(each, asyncio.Transport))

    @property
    def has_room(self) -> bool:
        """True while a response can be created at once."""
        return not self._waiting and (not self._behind or self.size_bytes <= self.limit_bytes)

    def add_behind(self, connection: UnreadConnection) -> None:
        """Count a connection whose client is behind with reading."""
        self._behind.add(connection)

    def remove_behind(self, connection: UnreadConnection) -> None:
        """Stop counting a connection: its client has read nearly everything, or has gone."""
        self._behind.discard(connection)
        self._was_read = True
        self._wake_waiting()

    @asynccontextmanager
    async def room(self, connection: UnreadConnection) -> AsyncIterator[None]:
        """Wait for room for a response, which the block must create and write to the connection without waiting.

        Raises:
            ConnectionError: The client has gone.
        """
        if self.has_room:
            yield
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = (turn, connection)
        self._waiting.append(waiting)
        if self._timer is None:
            self._expect_reading()
        try:
            await turn
            if connection.transport is None:
                raise ConnectionResetError("the client has gone")
            yield
        finally:
            self._waiting.remove(waiting)
            self._wake_waiting()

    def drop_waiting(self) -> None:
        """Close the connections whose responses are delayed: they must not be sent any more."""
        for _, connection in self._waiting:
            if isinstance(connection.transport, asyncio.Transport):
                connection.transport.abort()

    def _expect_reading(self) -> None:
        self._was_read = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(UNREAD_STALLED_SECONDS, self._drop_stalled, self.size_bytes)

    def _drop_stalled(self, size_bytes_before: int) -> None:
        self._timer = None
        if not self._waiting:
            return
        if not self._was_read and self.size_bytes >= size_bytes_before:
            self.drop_waiting()
        self._expect_reading()

    def _wake_waiting(self) -> None:
        """Wake the entries whose client has gone, and the first of the others if there is room."""
        for turn, connection in self._waiting:
            if connection.transport is None and not turn.done():
                turn.set_result(None)
        if self._waiting and self.size_bytes <= self.limit_bytes and not self._waiting[0][0].done():
            self._waiting[0][0].set_result(None)


UNREAD_ANSWERS = web.RequestKey("unread_answers", UnreadAnswers)
"""Set on a request: the unread responses of its client, which delay its response. Absent if it needs no principal."""


@asynccontextmanager
async def room_for_answer(request: web.BaseRequest) -> AsyncIterator[None]:
    """Wait until the client of a request has read enough; see `UnreadAnswers.room`."""
    unread = request.get(UNREAD_ANSWERS)
    connection = request.protocol
    if unread is None or connection is None:
        yield
        return
    async with unread.room(connection):
        yield
