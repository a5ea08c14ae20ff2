"""Tracks connections that serve a principal with a revocable credential: revoking it ends them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Protocol
from weakref import WeakValueDictionary

from agentcore.api import Principal
from agentcore.server.http.connection import Connection
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.server_limits import UNREAD_ANSWER_BYTES, UNREAD_ANSWER_BYTES_OF_TOKEN, UNREAD_WAIT_SECONDS
from agentcore.server.http.unread_answers import UnreadAnswers


class Ending(Protocol):
    """A connection that can be ended."""

    @property
    def end_stream(self) -> Callable[[], object] | None:
        """Ends what is being served on it in an orderly way; None: nothing is."""
        ...

    @property
    def transport(self) -> asyncio.BaseTransport | None:
        """The transport of the connection."""
        ...


REVOCABLE = frozenset(("client", "mcp", "page", "approver"))
"""Kinds of principals whose credentials can be revoked while the server runs."""


class LiveConnections:
    """Tracks which principal is served on which connection, from authentication to the end of the response."""

    def __init__(self) -> None:
        self._serving: dict[str, set[Ending]] = {}
        # the connections hold the values, so that an entry disappears with the last connection of its principal
        self._unread: WeakValueDictionary[str, UnreadAnswers] = WeakValueDictionary()

    @property
    def is_serving(self) -> bool:
        """True while anything is served on one of the connections, such as the events of an open page."""
        return bool(self._serving)

    @contextmanager
    def track_connection(self, principal: Principal, connection: Ending) -> Iterator[None]:
        """While the block runs, revoking the principal's credential ends the connection."""
        connections = self._serving.setdefault(principal.name, set())
        connections.add(connection)
        try:
            yield
        finally:
            connections.discard(connection)
            if not connections and self._serving.get(principal.name) is connections:
                del self._serving[principal.name]

    async def wait_until_read(self, principal: Principal, connection: Connection) -> UnreadAnswers:
        """Count the connection's unread bytes as the client's, and wait until it has room for another response.

        Raises:
            Refusal: `too_many_unread`.
            ConnectionError: The client has gone.
        """
        unread = self._unread.get(principal.name)
        if unread is None:
            is_revocable = principal.kind in REVOCABLE
            limit_bytes = UNREAD_ANSWER_BYTES if is_revocable else UNREAD_ANSWER_BYTES_OF_TOKEN
            unread = self._unread[principal.name] = UnreadAnswers(limit_bytes)
        connection.count_unread(unread)
        if not unread.has_room:
            try:
                async with asyncio.timeout(UNREAD_WAIT_SECONDS), unread.room(connection):
                    pass
            except TimeoutError:
                raise _too_many_unread(unread) from None
        return unread

    def end_connections(self, principal: Principal, *, but: Ending | None = None) -> None:
        """End what is being served to a principal: streams, sockets, requests whose body is still incomplete.

        Args:
            principal: The principal.
            but: The connection on which this is requested, which is left open.
        """
        for connection in tuple(self._serving.get(principal.name, ())):
            if connection is but:
                continue
            if connection.end_stream is not None:
                connection.end_stream()  # in an orderly way: a page that logs out has no error to report
            elif isinstance(connection.transport, asyncio.Transport):
                connection.transport.abort()
        if (unread := self._unread.get(principal.name)) is not None:
            unread.drop_waiting()


def _too_many_unread(unread: UnreadAnswers) -> Refusal:
    waiting = f"{unread.size_bytes:,} bytes of answers to this client wait to be read"
    return Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_many_unread",
        f"{waiting}; read them, or close the connections",
        retryable=True,
        closes=True,
        limit_bytes=unread.limit_bytes,
    )
