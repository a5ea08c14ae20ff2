"""Connections on which somebody is being served whose credential can be taken back: they end with it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Protocol

from agentcore.api import Principal
from agentcore.server.http.bounds import UNREAD_ANSWER_BYTES
from agentcore.server.http.refusal import Refusal


class Ending(Protocol):
    """A connection, as far as it can be ended."""

    @property
    def end_stream(self) -> Callable[[], object] | None:
        """Ends in good order what is being served on it; None: nothing is."""
        ...

    @property
    def transport(self) -> asyncio.BaseTransport | None:
        """What carries it."""
        ...


REVOCABLE = frozenset(("client", "mcp", "page", "approver"))
"""Kinds of principals whose credentials can be taken back while the server runs."""


class LiveConnections:
    """Knows who is being served on which connection, from the credential on to the end of the answer."""

    def __init__(self) -> None:
        self._serving: dict[str, set[Ending]] = {}
        self._answering: dict[str, set[asyncio.Transport]] = {}

    @contextmanager
    def serving(self, principal: Principal, connection: Ending) -> Iterator[None]:
        """While this lasts, the connection ends when the principal's credential is taken back."""
        connections = self._serving.setdefault(principal.name, set())
        connections.add(connection)
        try:
            yield
        finally:
            connections.discard(connection)
            if not connections and self._serving.get(principal.name) is connections:
                del self._serving[principal.name]

    def check_unread(self, principal: Principal, connection: Ending) -> None:
        """Refuse a request of a client that does not read its answers; else they count on it until it reads them.

        Raises:
            Refusal: `too_many_unread`.
        """
        known = self._answering.get(principal.name, set())
        open_ones = {transport for transport in known if not transport.is_closing()}
        if isinstance(connection.transport, asyncio.Transport):
            open_ones.add(connection.transport)
        self._answering[principal.name] = open_ones
        unread = sum(transport.get_write_buffer_size() for transport in open_ones)
        if unread > UNREAD_ANSWER_BYTES:
            message = f"{unread:,} bytes of answers to this client wait to be read; read them, or close the connections"
            raise Refusal(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too_many_unread",
                message,
                retryable=True,
                closes=True,
                limit_bytes=UNREAD_ANSWER_BYTES,
            )

    def end(self, principal: Principal, *, but: Ending | None = None) -> None:
        """End what is being served to a principal: streams, sockets, requests whose body is not there yet.

        Args:
            principal: Who.
            but: The connection on which that is asked for.
        """
        for connection in tuple(self._serving.get(principal.name, ())):
            if connection is but:
                continue
            if connection.end_stream is not None:
                connection.end_stream()  # in good order: a page that logs out has no error to tell of
            elif isinstance(connection.transport, asyncio.Transport):
                connection.transport.abort()
