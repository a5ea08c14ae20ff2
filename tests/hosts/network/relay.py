"""A TCP link that a test can spoil: bytes pass through here late, slowly or not at all, but always in order."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.hosts.network.machine import Network

LOOPBACK = "127.0.0.1"
_PIECE_BYTES = 16 * 1024
_RESET_AT_CLOSE = struct.pack("ii", 1, 0)


@dataclass(eq=False)
class Direction:
    """What becomes of the bytes of one direction, of all connections.

    Attributes:
        delay_s: How long each byte is on its way.
        bytes_per_s: How many pass in a second; None: as many as there are.
        holds_bytes: How many may be on their way; beyond, no more are taken until some have arrived.
        taken: How many were taken.
        passed: How many of them have arrived.
    """

    delay_s: float = 0.0
    bytes_per_s: float | None = None
    holds_bytes: int = 1 << 20
    taken: int = 0
    passed: int = 0
    flows: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go_on()

    def stall(self) -> None:
        """Take bytes and pass none on."""
        self.flows.clear()

    def go_on(self) -> None:
        """Pass on what was taken meanwhile, and what comes."""
        self.flows.set()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Bytes as they are passed on: slow ones in pieces of a twentieth of a second."""
        size = len(data) if self.bytes_per_s is None else max(1, int(self.bytes_per_s / 20))
        return (data[at : at + size] for at in range(0, len(data), size))


@dataclass(eq=False)
class Relay:
    """Passes connections on to a target.

    Args:
        host: Where connections are passed on to.
        port: The port there; it may be changed, and counts for the next connection.
        network: The network in which it listens; None: that of the tests.
        address: Where it listens there.

    Attributes:
        out: From who connected to the target.
        back: From the target.
        peers: Where each connection so far came from, the oldest first.
    """

    host: str
    port: int
    network: Network | None = None
    address: tuple[str, int] = (LOOPBACK, 0)
    out: Direction = field(default_factory=Direction)
    back: Direction = field(default_factory=Direction)
    peers: list[str] = field(default_factory=list)
    _listener: asyncio.Server | None = None
    _links: "set[_Link]" = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._links)

    async def connected(self, number: int) -> None:
        """Wait until so many connections have been made since the start, those that ended included."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.peers) >= number)

    async def cut(self) -> None:
        """Reset all connections, for both ends; returns once none is left."""
        for link in self._links:
            link.cut()
        async with self._changed:
            await self._changed.wait_for(lambda: not self._links)

    def stall(self) -> None:
        """Take bytes and pass none on: the link is half open, and neither end can know."""
        self.out.stall()
        self.back.stall()

    def go_on(self) -> None:
        """Pass on what was taken meanwhile, and what comes."""
        self.out.go_on()
        self.back.go_on()

    def strand(self) -> None:
        """Pass nothing of the connections that are open, for good, and do not end them; others pass as ever."""
        for link in self._links:
            link.flows.clear()

    async def refuse(self) -> None:
        """Refuse new connections; those that are open stay."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def accept(self) -> None:
        """Take connections, at the address of before where there was one."""
        address = self.address
        listener = socket.create_server(address) if self.network is None else self.network.listener(*address)
        self._listener = await asyncio.start_server(self._take, sock=listener)
        self.address = listener.getsockname()[:2]

    @asynccontextmanager
    async def down(self, at_least_s: float = 0.0) -> AsyncIterator[None]:
        """A block in which there is no link: what is open is reset, and what comes is refused.

        Args:
            at_least_s: For how long, also where the block ends before.
        """
        await self.refuse()
        await self.cut()
        over = asyncio.get_running_loop().time() + at_least_s
        yield
        await _until(over)
        await self.accept()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(writer)
        self._links.add(link)
        self.peers.append(writer.get_extra_info("peername")[0])
        try:
            async with self._changed:
                self._changed.notify_all()
            await self._pass(link, reader, writer)
        except asyncio.CancelledError:
            if not link.is_cut:
                raise
        finally:
            link.end()
            self._links.discard(link)
            async with self._changed:
                self._changed.notify_all()

    async def _pass(self, link: "_Link", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_connection(self.host, self.port)
            link.add(onward)
            async with asyncio.TaskGroup() as group:
                group.create_task(_Flow(link, self.out, reader, onward).run())
                group.create_task(_Flow(link, self.back, there, writer).run())
        except* OSError:
            link.reset()  # an end that is reset, or is not there, is so for the other one, too


async def _until(due: float) -> None:
    if (left := due - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(left)


class _Flow:
    """One direction of one connection."""

    def __init__(
        self, link: "_Link", direction: Direction, source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        self._link, self._direction, self._source, self._sink = link, direction, source, sink
        self._queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        self._held, self._less = 0, asyncio.Condition()
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Pass bytes until their end, which is passed on after the last of them."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._read())
            group.create_task(self._write())

    async def _read(self) -> None:
        data = b"first"
        while data:
            data = await self._source.read(_PIECE_BYTES)
            async with self._less:
                await self._less.wait_for(lambda: self._held < self._direction.holds_bytes)
                self._held += len(data)
            self._direction.taken += len(data)
            self._queue.put_nowait((self._loop.time() + self._direction.delay_s, data))

    async def _write(self) -> None:
        while True:
            due, data = await self._queue.get()
            await _until(due)
            await self._let_pass()
            if not data:
                self._sink.write_eof()
                return
            for piece in self._direction.pieces(data):
                if (speed := self._direction.bytes_per_s) is not None:
                    await _until(self._loop.time() + len(piece) / speed)
                    await self._let_pass()
                self._sink.write(piece)
                await self._sink.drain()
                self._direction.passed += len(piece)
                async with self._less:
                    self._held -= len(piece)
                    self._less.notify_all()

    async def _let_pass(self) -> None:
        await self._direction.flows.wait()
        await self._link.flows.wait()


class _Link:
    """Both sockets of one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writers = [writer]
        self._task = asyncio.current_task()
        self.is_cut = False
        self.flows = asyncio.Event()
        self.flows.set()

    def add(self, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)

    def reset(self) -> None:
        """Have both ends see a reset."""
        for writer in self._writers:
            with contextlib.suppress(OSError, ValueError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
            writer.transport.abort()

    def cut(self) -> None:
        """The same, and nothing more is passed."""
        self.is_cut = True
        self.reset()
        if self._task is not None:
            self._task.cancel()

    def end(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def relay_to(
    host: str, port: int, *, network: Network | None = None, address: tuple[str, int] = (LOOPBACK, 0)
) -> AsyncIterator[Relay]:
    """A relay that runs, and of which nothing is left afterwards; see `Relay`."""
    relay = Relay(host, port, network, address)
    await relay.accept()
    try:
        yield relay
    finally:
        await relay.refuse()
        await relay.cut()
