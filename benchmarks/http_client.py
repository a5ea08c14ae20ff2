"""A client that costs little itself: bytes over a socket, answers found by their Content-Length."""

import asyncio
import socket
import time
from collections.abc import Mapping
from typing import cast


def request_bytes(
    method: str,
    path: str,
    port: int,
    body: bytes = b"",
    token: str = "",
    *,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """One HTTP/1.1 request, ready to send."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


_BUFFER_BYTES = 1 << 21
_HEAD_BYTES = 1 << 16


class Connection:
    """One kept-alive connection, used by one request at a time."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray(_BUFFER_BYTES)

    def send(self, request: bytes) -> bytes:
        """Send a request and return the whole answer.

        It is read into one buffer: appending what arrives copies a long answer many times.
        """
        self._socket.sendall(request)
        received = 0
        length: int | None = None
        while length is None or received < length:
            if received == len(self._buffer):
                self._buffer += bytes(received)
            # each view is released at once, for a bytearray with views cannot grow
            with memoryview(self._buffer) as whole, whole[received:] as room:
                more = self._socket.recv_into(room)
            if not more:
                raise ConnectionError(f"the server closed the connection after {bytes(self._buffer[:200])!r}")
            received += more
            length = length or answer_length(bytes(self._buffer[: min(received, _HEAD_BYTES)]))
        return bytes(memoryview(self._buffer)[:received])

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def answer_length(answer: bytes) -> int | None:
    """Length of the first answer in bytes, once its head is there."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = answer[:end].lower()
    at = head.find(b"content-length:")
    if at < 0:
        raise ValueError(f"an answer without Content-Length: {head!r:.200}")
    line_end = head.find(b"\r\n", at)
    return end + 4 + int(head[at + 15 : line_end if line_end >= 0 else None])


class _Loader(asyncio.Protocol):
    def __init__(self, request: bytes, counter: list[int], end: float) -> None:
        self._request, self._counter, self._end = request, counter, end
        self._buffer = b""
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        length = answer_length(self._buffer)
        if length is None or len(self._buffer) < length:
            return
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            raise AssertionError(self._buffer[:300])
        self._buffer = b""
        self._counter[0] += 1
        if time.perf_counter() < self._end:
            self._transport.write(self._request)
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)


async def throughput(port: int, request: bytes, connections: int, seconds: float) -> float:
    """Requests a second over many connections at once."""
    loop = asyncio.get_running_loop()
    counter = [0]
    began = time.perf_counter()
    loaders = [
        (await loop.create_connection(lambda: _Loader(request, counter, began + seconds), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    for loader in loaders:
        await loader.closed
    return counter[0] / (time.perf_counter() - began)
