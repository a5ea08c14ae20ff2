"""The stateless revision, 2026-07-28: the SDK's own transport, over a bridge from aiohttp to ASGI."""

import asyncio
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from agentcore.host.context_task import ContextTask
from agentcore.mcp import Caller, Door
from agentcore.server.exchange import Exchange
from agentcore.server.http.raw_stream import RawStream
from agentcore.server.http.response import Answer, Sent
from agentcore.server.mcp.callers import caller_for

CALLER = "agentcore.caller"
"""Where a request's scope holds who asks."""

_OF_ANSWER = frozenset((b"content-type", b"content-length", b"connection", b"transfer-encoding"))


class Stateless:
    """Serves clients that say with each request what others say once.

    Args:
        manager: The SDK's, held open.
    """

    def __init__(self, manager: StreamableHTTPSessionManager, running: ContextTask[None]) -> None:
        self._manager, self._running = manager, running

    @classmethod
    async def open(cls, door: Door) -> "Stateless":
        """Begin to serve."""
        manager = StreamableHTTPSessionManager(door.server)
        return cls(manager, await ContextTask.open(manager.run(), "mcp:stateless"))

    async def close(self) -> None:
        """End."""
        await self._running.close()

    async def post(self, exchange: Exchange) -> Answer | Sent:
        """Answer one request."""
        body = await exchange.parts.reader.read_bytes(exchange.request)
        principal = exchange.principal
        # the session is the client's: what it makes is named in its next call by id
        caller = caller_for(exchange, f"{principal.kind}-{principal.id}" if principal.id else principal.kind)
        bridge = _Bridge(exchange, body)
        exchange.connection.on_lost = exchange.connection.end_stream = bridge.gone.set
        try:
            await self._manager.handle_request(_scope(exchange, caller), bridge.receive, bridge.send)
        finally:
            exchange.connection.on_lost = exchange.connection.end_stream = None
        return bridge.answer()


class _Bridge:
    """One request and its answer, as ASGI has them."""

    def __init__(self, exchange: Exchange, body: bytes) -> None:
        self._exchange, self._body = exchange, body
        self._is_read = False
        self._status, self._content_type = HTTPStatus.INTERNAL_SERVER_ERROR.value, ""
        self._headers: dict[str, str] = {}
        self._stream: RawStream | None = None
        self._parts: list[bytes] = []
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        """The body at first, then nothing until the client goes."""
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Take a piece of the answer."""
        if message["type"] == "http.response.start":
            headers = [(name.lower(), value) for name, value in message["headers"]]
            self._status = message["status"]
            self._content_type = dict(headers).get(b"content-type", b"").decode("latin-1")
            self._headers = {
                name.decode("latin-1"): value.decode("latin-1") for name, value in headers if name not in _OF_ANSWER
            }
            return
        if message.get("more_body") and self._stream is None:
            self._stream = RawStream(self._exchange.request, self._content_type, self._status, headers=self._headers)
        if self._stream is None:
            self._parts.append(message.get("body", b""))
            return
        self._stream.write(message.get("body", b""))
        if self._stream.is_behind:
            await self._stream.drain()

    def answer(self) -> Answer | Sent:
        """The end of the answer."""
        if self._stream is not None:
            return self._stream.end()
        return Answer(b"".join(self._parts), self._status, self._content_type, self._headers)


def _scope(exchange: Exchange, caller: Caller) -> dict[str, Any]:
    request = exchange.request
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "path": exchange.path,
        "raw_path": exchange.path.encode("latin-1", "replace"),
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
        "scheme": "http",
        CALLER: caller,
    }
