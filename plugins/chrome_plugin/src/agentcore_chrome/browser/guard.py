"""A SOCKS proxy on loopback that enforces the URL policy on every connection of a launched browser.

Every connection of a page – for a link, a redirect, a script, a worker, a WebSocket, a popup – arrives at the proxy
with the host's name. The proxy resolves the name and connects to the address that it has checked, so a name that
changes its address between check and use (DNS rebinding) gains nothing.

Source: RFC 1928 (SOCKS 5), of which a browser uses CONNECT without authentication.
"""

import asyncio
import contextlib
import ipaddress
import struct
from collections import Counter, OrderedDict
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import structlog

from agentcore.api import Background, ToolError

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_HANDSHAKE_SECONDS = 10.0
_CONNECT_SECONDS = 30.0
_HALF_CLOSED_SECONDS = 60.0
_CHUNK_BYTES = 256 * 1024
_REMEMBERED = 512
_VERSION = 5
_CONNECT = 1
_NO_AUTHENTICATION = 0
_IPV4 = 1
_NAME = 3
_IPV6 = 4
_HTTP_PORT = 80
_SOCKS_PORT = 1080
_OK = 0
_FAILED = 1
_NOT_ALLOWED = 2
_UNREACHABLE = 4
_REFUSED = 5


class Policy(Protocol):
    """The part of a URL policy that the guard uses."""

    async def resolve(self, url: str) -> list[str]:
        """Return the addresses of a URL's host, all of which are allowed."""
        ...


class Guard:
    """The proxy of one engine.

    Attributes:
        refused: The policy's errors by host and port, the newest last.
        failed: Why a host and port could not be reached, as a browser's error code.
    """

    def __init__(self, policy: Policy, upstream: str | None = None) -> None:
        self._policy = policy
        self._upstream = upstream
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._connections = Background("browser_guard")
        self.refused: OrderedDict[tuple[str, int], ToolError] = OrderedDict()
        self.failed: OrderedDict[tuple[str, int], str] = OrderedDict()

    async def start(self) -> str:
        """Listen on a free loopback port and return the proxy's address for a browser; may be called twice."""
        async with self._starting:  # two browsers that start at the same time must share one server
            if self._server is None:
                self._server = await asyncio.start_server(self._accept_connection, "127.0.0.1", 0, limit=_CHUNK_BYTES)
            port = self._server.sockets[0].getsockname()[1]
        return f"socks5://127.0.0.1:{port}"

    async def stop(self) -> None:
        """Close all connections; may be called twice."""
        async with self._starting:
            server = self._server
            self._server = None
        if server is not None:
            server.close()
        await self._connections.stop()

    def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = self._connections.start(self._serve_connection(reader, writer))
        serving.add_done_callback(lambda _: writer.close())  # also if it is cancelled before its first step

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HANDSHAKE_SECONDS):
                host, port = await _read_request(reader, writer)
            there = await self._connect_and_reply(host, port, writer)
            if there is not None:
                await _relay_streams(reader, writer, *there)
        except (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError, ValueError, struct.error):
            pass  # a side disconnected, or the data is not SOCKS: only this connection ends

    async def _connect_and_reply(
        self, host: str, port: int, writer: asyncio.StreamWriter
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """Connect if the policy allows it, and send the result to the browser."""
        target = (host, port)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                there = await self._open_connection(host, port)
        except ToolError as exc:
            if exc.type == "url_blocked":
                _store_recent(self.refused, target, exc)
                log.info("browser_connection_refused", host=host, port=port, reason=exc.context.get("reason"))
            else:
                _store_recent(self.failed, target, "net::ERR_NAME_NOT_RESOLVED")
            await _send_reply(writer, _NOT_ALLOWED)
        except TimeoutError:
            _store_recent(self.failed, target, "net::ERR_CONNECTION_TIMED_OUT")
            await _send_reply(writer, _UNREACHABLE)
        except ConnectionRefusedError:
            _store_recent(self.failed, target, "net::ERR_CONNECTION_REFUSED")
            await _send_reply(writer, _REFUSED)
        except OSError:
            _store_recent(self.failed, target, "net::ERR_ADDRESS_UNREACHABLE")
            await _send_reply(writer, _UNREACHABLE)
        else:
            self.refused.pop(target, None)
            self.failed.pop(target, None)
            try:
                await _send_reply(writer, _OK)
            except BaseException:
                there[1].close()  # the browser disconnected meanwhile
                raise
            return there
        return None

    async def _open_connection(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        named = f"[{host}]" if ":" in host else host
        addresses = await self._policy.resolve(f"{'https' if port == 443 else 'http'}://{named}:{port}/")  # noqa: PLR2004
        if self._upstream is not None:
            return await _connect_through_proxy(self._upstream, host, port)
        failure: OSError = ConnectionRefusedError(host)
        for address in addresses:
            try:
                return await asyncio.open_connection(address, port, limit=_CHUNK_BYTES)
            except OSError as exc:
                failure = exc
        raise failure


def parse_host_and_port(url: str) -> tuple[str, int]:
    """Return host and port of an address, as a proxy receives them."""
    parts = urlsplit(url)
    try:
        return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Read the greeting and the request of RFC 1928, and return host and port."""
    version, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    if version != _VERSION:
        raise ValueError("no SOCKS 5")
    writer.write(bytes((_VERSION, _NO_AUTHENTICATION)))
    _, command, _, kind = await reader.readexactly(4)
    if kind == _NAME:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii").lower()
    elif kind in (_IPV4, _IPV6):
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
    else:
        raise ValueError("unknown kind of address")
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    if command != _CONNECT:
        raise ValueError("only CONNECT is served")
    return host, port


async def _send_reply(writer: asyncio.StreamWriter, code: int) -> None:
    writer.write(bytes((_VERSION, code, 0, _IPV4, 0, 0, 0, 0, 0, 0)))
    await writer.drain()


async def _relay_streams(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    far_reader: asyncio.StreamReader,
    far_writer: asyncio.StreamWriter,
) -> None:
    """Relay bytes both ways until both directions end; after the first one, the other may be idle for
    `_HALF_CLOSED_SECONDS` at most."""
    copied = Counter[str]()
    try:
        async with asyncio.TaskGroup() as group:
            ways = [
                group.create_task(_copy_stream(reader, far_writer, copied)),
                group.create_task(_copy_stream(far_reader, writer, copied)),
            ]
            _, open_ways = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            before = -1
            while open_ways and copied.total() != before:
                before = copied.total()
                _, open_ways = await asyncio.wait(open_ways, timeout=_HALF_CLOSED_SECONDS)
            for way in ways:
                way.cancel()
    finally:
        far_writer.close()


async def _copy_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, copied: Counter[str]) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            copied["bytes"] += len(data)
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _connect_through_proxy(
    upstream: str, host: str, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect through the proxy of the settings, by HTTP CONNECT or SOCKS 5."""
    proxy = urlsplit(upstream)
    is_http = proxy.scheme == "http"
    own_port = proxy.port or (_HTTP_PORT if is_http else _SOCKS_PORT)
    reader, writer = await asyncio.open_connection(proxy.hostname, own_port, limit=_CHUNK_BYTES)
    try:
        await (_connect_by_http if is_http else _connect_by_socks)(reader, writer, host, port)
    except (EOFError, asyncio.LimitOverrunError) as exc:
        writer.close()
        raise ConnectionRefusedError("the proxy of the settings gave no answer") from exc
    except BaseException:
        writer.close()
        raise
    return reader, writer


async def _connect_by_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    named = f"[{host}]" if ":" in host else host
    writer.write(f"CONNECT {named}:{port} HTTP/1.1\r\nHost: {named}:{port}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ConnectionRefusedError("the proxy of the settings refused the connection")


async def _connect_by_socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    name = host.encode("ascii")
    writer.write(bytes((_VERSION, 1, _NO_AUTHENTICATION)))
    await reader.readexactly(2)
    writer.write(bytes((_VERSION, _CONNECT, 0, _NAME, len(name))) + name + struct.pack("!H", port))
    _, code, _, kind = await reader.readexactly(4)
    rest = {_IPV4: 4, _IPV6: 16}.get(kind)
    await reader.readexactly((rest if rest is not None else (await reader.readexactly(1))[0]) + 2)
    if code != _OK:
        raise ConnectionRefusedError("the proxy of the settings refused the connection")


def _store_recent(kept: OrderedDict[tuple[str, int], T], target: tuple[str, int], what: T) -> None:
    kept[target] = what
    kept.move_to_end(target)
    while len(kept) > _REMEMBERED:
        kept.popitem(last=False)
