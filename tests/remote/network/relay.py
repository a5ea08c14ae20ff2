"""A TCP link that a test can spoil: bytes pass through here late, slowly or not at all, but always in order."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

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
        passed: How many have arrived.
    """

    delay_s: float = 0.0
    bytes_per_s: float | None = None
    holds_bytes: int = 1 << 20
    passed: int = 0

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

    Attributes:
        out: From who connected to the target.
        back: From the target.
        address: Where it listens.
        peers: Where each connection so far came from, the oldest first.
    """

    host: str
    port: int
    out: Direction = field(default_factory=Direction)
    back: Direction = field(default_factory=Direction)
    address: tuple[str, int] = (LOOPBACK, 0)
    peers: list[str] = field(default_factory=list)
    _listener: asyncio.Server | None = None
    _links: "set[_Link]" = field(default_factory=set)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _flows: asyncio.Event = field(default_factory=asyncio.Event)

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
        self._flows.clear()

    def go_on(self) -> None:
        """Pass on what was taken meanwhile, and what comes."""
        self._flows.set()

    async def refuse(self) -> None:
        """Refuse new connections; those that are open stay."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def accept(self, listener: socket.socket | None = None) -> None:
        """Take connections, at the address of before where there was one.

        Args:
            listener: A socket that listens, such as one of another network; None: on loopback.
        """
        if listener is None:
            self._listener = await asyncio.start_server(self._take, *self.address)
        else:
            self._listener = await asyncio.start_server(self._take, sock=listener)
        self.address = self._listener.sockets[0].getsockname()[:2]

    @asynccontextmanager
    async def down(self) -> AsyncIterator[None]:
        """A block in which there is no link: what is open is reset, and what comes is refused."""
        await self.refuse()
        await self.cut()
        yield
        await self.accept()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(writer)
        self._links.add(link)
        self.peers.append(writer.get_extra_info("peername")[0])
        try:
            async with self._changed:
                self._changed.notify_all()
            await self._pass(link, reader, writer)
        except* OSError:
            link.reset()  # an end that is reset, or is not there, is so for the other one, too
        finally:
            link.end()
            self._links.discard(link)
            async with self._changed:
                self._changed.notify_all()

    async def _pass(self, link: "_Link", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection(self.host, self.port)
        link.add(onward)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._flow(self.out, reader, onward))
            group.create_task(self._flow(self.back, there, writer))

    async def _flow(self, direction: Direction, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """One direction of one connection, to its end, which is passed on after its last byte."""
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        room = _Room(direction)
        async with asyncio.TaskGroup() as group:
            group.create_task(_read(direction, source, queue, room))
            group.create_task(self._write(direction, sink, queue, room))

    async def _write(
        self, direction: Direction, sink: asyncio.StreamWriter, queue: asyncio.Queue[tuple[float, bytes]], room: "_Room"
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, data = await queue.get()
            await _until(due)
            await self._flows.wait()
            if not data:
                sink.write_eof()
                return
            for piece in direction.pieces(data):
                if direction.bytes_per_s is not None:
                    await _until(loop.time() + len(piece) / direction.bytes_per_s)
                    await self._flows.wait()
                sink.write(piece)
                await sink.drain()
                direction.passed += len(piece)
                await room.give(len(piece))


async def _read(
    direction: Direction, source: asyncio.StreamReader, queue: asyncio.Queue[tuple[float, bytes]], room: "_Room"
) -> None:
    loop = asyncio.get_running_loop()
    while True:
        data = await source.read(_PIECE_BYTES)
        await room.take(len(data))
        queue.put_nowait((loop.time() + direction.delay_s, data))
        if not data:
            return


async def _until(due: float) -> None:
    if (left := due - asyncio.get_running_loop().time()) > 0:
        await asyncio.sleep(left)


class _Room:
    """Bounds what is on its way in one direction of one connection."""

    def __init__(self, direction: Direction) -> None:
        self._direction, self._held, self._less = direction, 0, asyncio.Condition()

    async def take(self, size: int) -> None:
        async with self._less:
            await self._less.wait_for(lambda: self._held < self._direction.holds_bytes)
            self._held += size

    async def give(self, size: int) -> None:
        async with self._less:
            self._held -= size
            self._less.notify_all()


class _Link:
    """Both sockets of one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writers = [writer]
        self._task = asyncio.current_task()

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
        self.reset()
        if self._task is not None:
            self._task.cancel()

    def end(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def relay_to(host: str, port: int, *, listener: socket.socket | None = None) -> AsyncIterator[Relay]:
    """A relay that runs, and of which nothing is left afterwards.

    Args:
        host: Where connections are passed on to.
        port: The port there.
        listener: Where they come from; None: loopback.
    """
    relay = Relay(host, port)
    relay.go_on()
    await relay.accept(listener)
    try:
        yield relay
    finally:
        await relay.refuse()
        await relay.cut()
