"""Answers over HTTP that are no longer than a message may be."""

from collections.abc import AsyncIterator

import httpx2

from agentcore_mcp_servers.messages import MESSAGE_BYTES


class Bounded(httpx2.AsyncBaseTransport):
    """Gives answers that are no longer than a message may be; streams of events are bounded by the SDK.

    Args:
        inner: What sends.
        limit_bytes: The bound.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit_bytes: int = MESSAGE_BYTES) -> None:
        self._inner, self._limit_bytes = inner, limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        response = await self._inner.handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an async transport
            response.stream = _BoundedStream(response.stream, self._limit_bytes)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit_bytes: int) -> None:
        self._inner, self._limit_bytes = inner, limit_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > self._limit_bytes:
                raise httpx2.ReadError(f"an answer of over {self._limit_bytes:,} bytes, which is the bound")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
