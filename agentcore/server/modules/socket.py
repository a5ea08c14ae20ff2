"""The server's end of a WebSocket, as modules see it: text and bytes, limited in size."""

import json
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus

from aiohttp import WSMsgType, web

from agentcore.errors import ToolError
from agentcore.server.exchange import Exchange
from agentcore.server.gate import SOCKET_PROTOCOL
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import SECURITY_HEADERS
from agentcore.server.http.server_limits import WEBSOCKET_BYTES, Hits
from agentcore.valid_text import valid_text

_HEARTBEAT_SECONDS = 30.0
_CLOSE_SECONDS = 2.0
_REASON_BYTES = 120


RefusalOf = Callable[[str | bytes], ToolError | None]


class ModuleSocket:
    """Implements `agentcore.api.web.Socket`.

    Attributes:
        response: The response for aiohttp, once the conversation is over.
    """

    def __init__(self, response: web.WebSocketResponse, hits: Hits, refusal: RefusalOf) -> None:
        self.response = response
        self._hits = hits
        self._refusal = refusal

    @classmethod
    async def open(cls, exchange: Exchange, refusal: RefusalOf) -> "ModuleSocket":
        """Accept a request for a WebSocket.

        Args:
            exchange: The request.
            refusal: Called with each message; returns why it must not reach the module, or None if it may.
        Raises:
            Refusal: `upgrade_required`: The request is not for a WebSocket.
        """
        response = web.WebSocketResponse(
            max_msg_size=WEBSOCKET_BYTES,
            heartbeat=_HEARTBEAT_SECONDS,
            timeout=_CLOSE_SECONDS,
            protocols=(SOCKET_PROTOCOL,),
        )
        response.headers.update(SECURITY_HEADERS)
        if not response.can_prepare(exchange.request):
            raise Refusal(
                HTTPStatus.UPGRADE_REQUIRED,
                "upgrade_required",
                "this address talks over a WebSocket only",
                headers={"Upgrade": "websocket"},
            )
        await response.prepare(exchange.request)
        return cls(response, exchange.parts.hits, refusal)

    async def send(self, message: str | bytes) -> None:
        """See `agentcore.api.web.Socket`."""
        if isinstance(message, str):
            await self.response.send_str(valid_text(message))
        else:
            await self.response.send_bytes(message)

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        """See `agentcore.api.web.Socket`."""
        async for message in self.response:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                refusal = self._refusal(message.data)
                if refusal is None:
                    yield message.data
                else:
                    self._hits.add("websocket_message_withheld")
                    await self.send(json.dumps({"type": "error", "error": refusal.to_json()}))
            elif message.type is WSMsgType.ERROR:
                self._hits.add("websocket_message")
                return

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """See `agentcore.api.web.Socket`."""
        await self.response.close(code=code, message=reason.encode()[:_REASON_BYTES])
