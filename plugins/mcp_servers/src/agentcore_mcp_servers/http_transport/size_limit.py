"""`Bounded`: limits the size of HTTP responses, also after decompression."""

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

from agentcore.api import JsonParts
from agentcore_mcp_servers.messages import MESSAGE_BYTES, MESSAGE_PARTS

_PACKED = ("gzip", "deflate")
_EITHER_HEAD = 32 + zlib.MAX_WBITS  # gzip's or zlib's
_PART_BYTES = 64 * 1024


class Bounded(httpx2.AsyncBaseTransport):
    """A transport that limits responses to the size of a message; the SDK limits the size of stream events.

    The JSON values in a message are counted as it arrives, also in events: the SDK parses a message in one step, which
    blocks the event loop.

    A small compressed response can expand until it fills the memory, so this transport decompresses it chunk by chunk.

    Args:
        inner: The transport that sends.
        limit_bytes: Maximum size of a response in bytes.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, limit_bytes: int = MESSAGE_BYTES) -> None:
        self._inner = inner
        self._limit_bytes = limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; reading an invalid response raises `httpx2.ReadError` or `httpx2.DecodingError`."""
        request.headers["accept-encoding"] = ", ".join(_PACKED)
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an async transport
        stream: AsyncIterator[bytes] = aiter(response.stream)
        packing = response.headers.pop("content-encoding", "identity").strip().lower()
        if packing not in ("", "identity"):
            response.headers.pop("content-length", None)
            stream = _decompress(stream, packing)
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            stream = _limit_events(stream)
        else:
            stream = _limit_size(stream, self._limit_bytes)
        response.stream = _Stream(stream, response.stream.aclose)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, parts: AsyncIterator[bytes], close: Callable[[], Awaitable[None]]) -> None:
        self._parts = parts
        self._close = close

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts

    async def aclose(self) -> None:
        await self._close()


async def _decompress(parts: AsyncIterator[bytes], packing: str) -> AsyncIterator[bytes]:
    if packing not in _PACKED:
        raise httpx2.DecodingError(f"an answer that is packed as {packing[:40]!r}, which was not asked for")
    unpacking = zlib.decompressobj(_EITHER_HEAD)
    try:
        async for packed in parts:
            rest = packed
            while rest:
                yield unpacking.decompress(rest, _PART_BYTES)
                rest = unpacking.unconsumed_tail
        yield unpacking.flush()
    except zlib.error as exc:
        raise httpx2.DecodingError(f"an answer that cannot be unpacked: {exc}") from exc


async def _limit_size(parts: AsyncIterator[bytes], limit_bytes: int) -> AsyncIterator[bytes]:
    size = 0
    values = JsonParts(MESSAGE_PARTS)
    async for part in parts:
        size += len(part)
        values.feed(part)
        if values.is_over:
            raise _too_many()
        if size > limit_bytes:
            raise httpx2.ReadError(f"an answer of over {limit_bytes:,} bytes, which is the bound")
        yield part


async def _limit_events(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass on a stream of events, and raise if one has more JSON values than a message may have."""
    values = JsonParts(MESSAGE_PARTS)
    before = b""
    async for part in parts:
        # An empty line ends an event, even if its line ends arrive in two chunks.
        *ended, rest = (before + part.replace(b"\r", b"")).split(b"\n\n")
        for event in ended:
            values.feed(event)
            if values.is_over:
                raise _too_many()
            values = JsonParts(MESSAGE_PARTS)
        before = b"\n" if rest.endswith(b"\n") else b""
        values.feed(rest.removesuffix(b"\n"))
        if values.is_over:
            raise _too_many()
        yield part


def _too_many() -> httpx2.ReadError:
    return httpx2.ReadError(f"an answer of over {MESSAGE_PARTS:,} values, which is the bound")
