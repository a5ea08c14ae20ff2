"""aiohttp's application with two private methods replaced."""

import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar, cast

from aiohttp import web

from agentcore.server.http.connection import ConnectionFactory

D = TypeVar("D")

with warnings.catch_warnings():
    # aiohttp discourages subclasses, because its own additions may collide with theirs. Two methods are replaced:
    # how a request is answered (aiohttp's router costs more than a small tool), and how a connection is made (limits).
    # Both are private, and so are names in `connection.py`: therefore the dependency is pinned to one minor version.
    warnings.simplefilter("ignore", DeprecationWarning)

    class ServerApplication(web.Application, Generic[D]):
        """The application of one origin: connects aiohttp to its dispatcher and to connections with limits."""

        def __init__(
            self,
            dispatcher: D,
            answer: Callable[[web.BaseRequest], Awaitable[Any]],
            connect: Callable[[], ConnectionFactory],
        ) -> None:
            super().__init__()
            self._state["agentcore"] = dispatcher
            self._answer = answer
            self._connect = connect

        @property
        def dispatcher(self) -> D:
            """The dispatcher, which answers requests."""
            return cast("D", self._state["agentcore"])

        async def _handle(self, request: web.Request) -> Any:
            return await self._answer(request)

        def _make_handler(self, **_: Any) -> ConnectionFactory:
            self._set_loop(None)
            self.freeze()
            return self._connect()
