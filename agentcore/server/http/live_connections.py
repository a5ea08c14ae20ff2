"""Connections on which somebody is being served whose credential can be taken back: they end with it."""

from collections.abc import Iterator
from contextlib import contextmanager

from agentcore.api import Principal
from agentcore.server.http.connection import Connection

REVOCABLE = frozenset(("client", "mcp", "page", "approver"))
"""Kinds of principals whose credentials can be taken back while the server runs."""


class LiveConnections:
    """Knows who is being served on which connection, from the credential on to the end of the answer."""

    def __init__(self) -> None:
        self._serving: dict[str, set[Connection]] = {}

    @contextmanager
    def serving(self, principal: Principal, connection: Connection) -> Iterator[None]:
        """While this lasts, the connection ends when the principal's credential is taken back."""
        connections = self._serving.setdefault(principal.name, set())
        connections.add(connection)
        try:
            yield
        finally:
            connections.discard(connection)
            if not connections and self._serving.get(principal.name) is connections:
                del self._serving[principal.name]

    def end(self, principal: Principal, *, but: Connection | None = None) -> None:
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
            elif connection.transport is not None:
                connection.transport.abort()
