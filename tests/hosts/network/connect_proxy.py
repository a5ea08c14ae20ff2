"""An HTTP proxy that knows CONNECT and nothing else, as companies have it between their machines and the internet."""

import asyncio
import contextlib
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.hosts.network.machine import Network
from tests.hosts.network.relay import LOOPBACK

_HEAD_BYTES = 16 * 1024
_PIECE_BYTES = 64 * 1024


@dataclass(eq=False)
class ConnectProxy:
    """A proxy that runs.

    Args:
        names: Where it reaches which `name:port`; what is not among them is refused.
        credentials: `user:password`, which each request has to show; empty: none.
        network: The network in which it is; None: that of the tests.

    Attributes:
        port: Where it listens.
        tunnels: The `name:port` of each tunnel so far.
        refused: The status and target of each refusal.
    """

    names: Mapping[str, tuple[str, int]]
    credentials: str = ""
    network: Network | None = None
    port: int = 0
    tunnels: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    _open: set[asyncio.Task[None]] = field(default_factory=set)
    _is_over: bool = False

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        except asyncio.CancelledError:
            if not self._is_over:
                raise
        finally:
            writer.close()
            self._open.discard(task)

    async def end(self) -> None:
        """End all tunnels."""
        self._is_over, tasks = True, list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        shown = dict(line.split(": ", 1) for line in head[1:] if line)
        if refusal := self._refusal(method, target, {name.lower(): value for name, value in shown.items()}):
            self.refused.append((int(refusal.split(" ")[0]), target))
            writer.write(f"HTTP/1.1 {refusal}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            return
        there, onward = await self._connected(*self.names[target])
        try:
            self.tunnels.append(target)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with contextlib.suppress(ExceptionGroup):
                async with asyncio.TaskGroup() as group:
                    group.create_task(_pass(reader, onward))
                    group.create_task(_pass(there, writer))
        finally:
            onward.close()

    async def _connected(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.network is None:
            return await asyncio.open_connection(host, port)
        return await self.network.connect(host, port)

    def _refusal(self, method: str, target: str, headers: Mapping[str, str]) -> str:
        if self.credentials and headers.get("proxy-authorization") != basic(self.credentials):
            return '407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"'
        if method != "CONNECT":
            return "405 Method Not Allowed"
        return "" if target in self.names else "403 Forbidden"


def basic(credentials: str) -> str:
    """The value of a header that shows `user:password`."""
    return f"Basic {b64encode(credentials.encode()).decode()}"


async def _pass(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(_PIECE_BYTES):
        sink.write(data)
        await sink.drain()
    sink.write_eof()


@asynccontextmanager
async def connect_proxy(
    names: Mapping[str, tuple[str, int]],
    *,
    credentials: str = "",
    network: Network | None = None,
    address: tuple[str, int] = (LOOPBACK, 0),
) -> AsyncIterator[ConnectProxy]:
    """A proxy that runs, and of which nothing is left afterwards.

    Args:
        names: See `ConnectProxy`.
        credentials: See there.
        network: See there.
        address: Where it listens in that network.
    """
    proxy = ConnectProxy(names, credentials, network)
    listener = socket.create_server(address) if network is None else network.listener(*address)
    server = await asyncio.start_server(proxy.take, sock=listener, limit=_HEAD_BYTES)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.end()
