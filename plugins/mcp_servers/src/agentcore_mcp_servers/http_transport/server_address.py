"""`ServerAddress`: the carrier for a remote server, over an HTTP transport of the SDK."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import mcp_types as types
from mcp.client._transport import ReadStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.dispatcher import Dispatcher
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage

from agentcore.api import Background, ToolError, UrlPolicy
from agentcore_mcp_servers.answer_repair import repair_answer
from agentcore_mcp_servers.http_transport.checked_connections import checked_transport, resolved_by
from agentcore_mcp_servers.http_transport.http_errors import Answers
from agentcore_mcp_servers.http_transport.size_limit import Bounded
from agentcore_mcp_servers.messages import MESSAGE_BYTES

_CONNECT_SECONDS = 30.0
_SILENCE_SECONDS = 3600.0
"""How long a stream may be silent; a call's own time limit applies earlier."""
_SESSION = "mcp-session-id"
_NOT_FOUND = 404


class ServerAddress:
    """One session with a remote server; a context manager that returns the dispatcher for the SDK.

    Args:
        url: The server's URL.
        headers: Headers of each request.
        policy: Checks the URL, and the resolved addresses each time that a connection is made.
        is_sse: True if the server uses the SSE transport from before 2025.
        auth: Authorises each request; None if the headers do.
        on_odd: Called with a description of each invalid entry that is dropped.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        policy: UrlPolicy,
        on_odd: Callable[[str], None],
        *,
        auth: httpx2.Auth | None,
        is_sse: bool,
    ) -> None:
        self._url = url
        self._headers = headers
        self._policy = policy
        self._is_sse = is_sse
        self._auth = auth
        self._on_odd = on_odd
        self._stack = AsyncExitStack()
        self._background = Background("mcp_servers:address")
        self._is_over = asyncio.Event()
        self.ending = "could not be reached"
        self.output = ""
        self.host = urlsplit(url).hostname or ""

    @property
    def brief_ending(self) -> str:
        """The same as `ending`, which is one line."""
        return self.ending

    async def __aenter__(self) -> Dispatcher[Any]:
        """Check the address and open the transport.

        Raises:
            ToolError: `server_not_started`.
        """
        await self._check_address()
        async with AsyncExitStack() as stack:
            read, write = await stack.enter_async_context(await self._create_transport(stack))
            self._stack = stack.pop_all()
        incoming, outgoing = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._background.start(self._forward_messages(read, incoming))
        return JSONRPCDispatcher(outgoing, write)

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session."""
        await self._background.stop()
        await self._stack.__aexit__(kind, value, trace)

    async def wait(self) -> None:
        """Wait until the server ends the session."""
        await self._is_over.wait()

    async def _check_address(self) -> None:
        try:
            self._policy.check(self._url)
            await self._policy.resolve(self._url)
        except ToolError as exc:
            if exc.type == "host_not_found":
                raise ToolError(
                    "server_not_started", exc.message, retryable=True, waits_for="network", host=self.host
                ) from exc
            raise ToolError("server_not_started", f"its address is refused: {exc.message}") from exc

    async def _create_transport(self, stack: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        if self._is_sse:
            return sse_client(self._url, dict(self._headers), _CONNECT_SECONDS, _SILENCE_SECONDS, self._sse_client)
        http = await stack.enter_async_context(self._create_client())
        return streamable_http_client(self._url, http_client=http, max_sse_event_size=MESSAGE_BYTES)

    def _sse_client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return self._create_client()

    def _create_client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=dict(self._headers),
            auth=self._auth,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_SILENCE_SECONDS),
            event_hooks={"response": [self._on_response]},
            transport=Answers(Bounded(checked_transport(resolved_by(self._policy)))),
        )

    async def _on_response(self, response: httpx2.Response) -> None:
        if response.status_code == _NOT_FOUND and _SESSION in response.request.headers:
            self.ending = "has forgotten the session"
            self._is_over.set()
        elif response.is_error:
            self.ending = f"answered with HTTP {response.status_code}"
        else:
            self.ending = "ended the connection"

    async def _forward_messages(
        self, read: ReadStream[SessionMessage | Exception], incoming: "anyio.abc.ObjectSendStream[Any]"
    ) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with incoming:
                async for message in read:
                    if isinstance(message, SessionMessage) and isinstance(message.message, types.JSONRPCResponse):
                        repair_answer(message.message, self._on_odd)
                    await incoming.send(message)
        self._is_over.set()
