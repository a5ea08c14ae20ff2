"""The relay does to a connection what it says: tests of faults rest on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.hosts.network.relay import LOOPBACK, Relay, relay_to

WAIT_S = 30.0


class Echo:
    """Sends back what it gets; `arrived` is all of that."""

    def __init__(self) -> None:
        self.arrived = b""
        self.more = asyncio.Condition()
        self.resets = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                self.arrived += data
                writer.write(data)
                async with self.more:
                    self.more.notify_all()
        except ConnectionResetError:
            self.resets += 1
            async with self.more:
                self.more.notify_all()
        finally:
            writer.close()

    async def wait_for(self, holds) -> None:
        async with asyncio.timeout(WAIT_S), self.more:
            await self.more.wait_for(holds)


@asynccontextmanager
async def _echo() -> AsyncIterator[tuple[Echo, Relay]]:
    echo = Echo()
    server = await asyncio.start_server(echo.take, LOOPBACK, 0)
    async with relay_to(*server.sockets[0].getsockname()) as relay:
        yield echo, relay
    server.close()
    await server.wait_closed()


async def test_bytes_and_their_end_pass_in_order():
    sent = bytes(range(256)) * 4096
    async with _echo() as (echo, relay), asyncio.timeout(WAIT_S):
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.write(sent)
        assert await reader.readexactly(len(sent)) == sent
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    assert echo.arrived == sent
    assert relay.peers == [LOOPBACK]
    assert relay.connections == 0


async def test_cut_is_a_reset_for_both_ends_and_the_next_connection_works():
    async with _echo() as (echo, relay), asyncio.timeout(WAIT_S):
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.write(b"one")
        await reader.readexactly(3)
        await relay.cut()
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        await echo.wait_for(lambda: echo.resets == 1)
        writer.close()
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.write(b"two")
        assert await reader.readexactly(3) == b"two"
        writer.close()


async def test_while_the_link_is_down_connections_are_refused():
    async with _echo() as (_, relay), asyncio.timeout(WAIT_S):
        async with relay.down():
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(*relay.address)
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.write(b"up")
        assert await reader.readexactly(2) == b"up"
        writer.close()


async def test_half_open_link_takes_bytes_and_passes_them_once_it_goes_on():
    async with _echo() as (echo, relay), asyncio.timeout(WAIT_S):
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.write(b"before ")
        await reader.readexactly(7)
        relay.stall()
        writer.write(b"during ")
        await writer.drain()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await reader.read(1)
        assert echo.arrived == b"before "
        relay.go_on()
        assert await reader.readexactly(7) == b"during "
        writer.close()


async def test_each_direction_has_its_own_delay_and_keeps_its_order():
    async with _echo() as (_, relay), asyncio.timeout(WAIT_S):
        relay.out.delay_s, relay.back.delay_s = 0.06, 0.03
        reader, writer = await asyncio.open_connection(*relay.address)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(100):
            writer.write(b"%03d" % number)
        assert await reader.readexactly(300) == b"".join(b"%03d" % number for number in range(100))
        # not how long it takes, which the machine says, but that no byte came sooner than it could
        assert loop.time() - began >= 0.09
        writer.close()


async def test_slow_link_holds_the_sender_back():
    async with _echo() as (echo, relay), asyncio.timeout(WAIT_S):
        relay.out.bytes_per_s, relay.out.holds_bytes = 50_000, 10_000
        reader, writer = await asyncio.open_connection(*relay.address)
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(b"x" * 32_000_000)
        draining = asyncio.create_task(writer.drain())
        await reader.readexactly(5_000)
        assert not draining.done()
        assert len(echo.arrived) < 1_000_000
        draining.cancel()
        writer.transport.abort()


async def test_connection_whose_target_is_not_there_is_reset():
    async with _echo() as (_, relay), asyncio.timeout(WAIT_S), relay_to(LOOPBACK, relay.address[1]) as other:
        await relay.refuse()
        reader, writer = await asyncio.open_connection(*other.address)
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        writer.close()
