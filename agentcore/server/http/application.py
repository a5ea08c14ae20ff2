"""aiohttp's application over a dispatcher of our own and over connections with limits."""

import warnings
from typing import Any, Generic, Protocol, TypeVar, cast

from aiohttp import web

from agentcore.server.http.bounds import Hits, TimeLimits
from agentcore.server.http.connection import ConnectionFactory


class Answering(Protocol):
    """What answers the requests of one origin. `connections` are those open, once the server listens."""

    connections: ConnectionFactory | None

    @property
    def limits(self) -> TimeLimits:
        """Time limits of its connections."""
        ...

    @property
    def hits(self) -> Hits:
        """Counts the bounds that were hit."""
        ...

    async def answer(self, request: web.BaseRequest) -> Any:
        """The answer to a request, whatever happens."""
        ...


D = TypeVar("D", bound=Answering)

with warnings.catch_warnings():
    # aiohttp discourages subclasses, because its own additions may collide with theirs. Two methods are replaced here:
    # how a request is answered (its router costs more than a small tool), and how a connection is made (its limits).
    # Both are private, and so are names in `connection.py`: why the dependency is bound to one minor version.
    warnings.simplefilter("ignore", DeprecationWarning)

    class ServerApplication(web.Application, Generic[D]):
        """aiohttp's application over our dispatcher and our connections."""

        def __init__(self, dispatcher: D, max_connections: int) -> None:
            super().__init__()
            self._state["agentcore"] = dispatcher
            self._max_connections = max_connections

        @property
        def dispatcher(self) -> D:
            """Answers requests."""
            return cast("D", self._state["agentcore"])

        async def _handle(self, request: web.Request) -> Any:
            return await self.dispatcher.answer(request)

        def _make_handler(self, **_: Any) -> ConnectionFactory:
            self._set_loop(None)
            self.freeze()
            dispatcher = self.dispatcher
            dispatcher.connections = factory = ConnectionFactory(
                dispatcher.answer, limit=self._max_connections, limits=dispatcher.limits, hits=dispatcher.hits
            )
            return factory
