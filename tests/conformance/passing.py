"""Passes requests of the suite on, with a key: it knows no way to show one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def passing(target_port: int, key: str) -> AsyncIterator[int]:
    """Listen on a port of loopback, which is given, for a server on another one."""
    passing_on = _Passing(target_port, key)
    server = await asyncio.start_server(passing_on.serve, "127.0.0.1", 0)
    passing_on.port = server.sockets[0].getsockname()[1]
    try:
        yield passing_on.port
    finally:
        server.close()


class _Passing:
    def __init__(self, target_port: int, key: str) -> None:
        self._target, self._key = target_port, key
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until a side ends it."""
        answers, requests = await asyncio.open_connection("127.0.0.1", self._target)
        there = asyncio.create_task(self._requests(reader, requests))
        back = asyncio.create_task(_answers(answers, writer))
        await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
        for end in (requests, writer):
            end.close()
        await asyncio.gather(there, back, return_exceptions=True)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
            first, *lines = head.split(b"\r\n")
            headers = [self._own(line) for line in lines]
            lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
            key = b"Authorization: Bearer " + self._key.encode()
            writer.write(b"\r\n".join([first, key, *headers]) + b"\r\n\r\n")
            writer.write(await reader.readexactly(sum(lengths)))
            await writer.drain()

    def _own(self, line: bytes) -> bytes:
        """Host and origin as the server knows itself; what is none of them stays, as that of an attacker does."""
        if not line.lower().startswith((b"host:", b"origin:")):
            return line
        return line.replace(b"localhost:%d" % self.port, b"localhost:%d" % self._target)


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
