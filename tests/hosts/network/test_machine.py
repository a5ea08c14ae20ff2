"""The other machine is where it seems to be: tests of hosts behind NAT rest on it."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.hosts.network.connect_proxy import connect_proxy
from tests.hosts.network.machine import (
    INTERNET,
    MACHINE,
    ROUTER,
    ROUTER_OUTSIDE,
    OtherMachine,
    other_machine,
    reason_against,
)
from tests.hosts.network.relay import relay_to

pytestmark = pytest.mark.skipif(bool(reason_against()), reason=reason_against())
WAIT_S = 60.0

ASK = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as asking:
    asking.settimeout(60)
    print(asking.recv(100).decode(), flush=True)
    for line in sys.stdin:
        asking.sendall(line.encode())
        print(asking.recv(100).decode(), flush=True)
"""


async def _ask(machine: OtherMachine, host: str, port: int, cwd: Path) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    words = (sys.executable, "-c", ASK, host, str(port))
    return await machine.start(*words, env=dict(os.environ), cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)


class Greeter:
    """Says hello, and answers each line with itself."""

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        while data := await reader.read(100):
            writer.write(data.strip())
        writer.close()


@pytest.fixture
async def greeting():
    """The port of a greeter on loopback."""
    server = await asyncio.start_server(Greeter().take, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def test_machine_reaches_the_internet_by_the_address_of_its_router_and_loses_no_bytes_unplugged(
    greeting, tmp_path
):
    """It connects by a name; what is sent while the cable is out arrives when it is in again."""
    async with asyncio.timeout(WAIT_S), other_machine() as machine:
        await machine.name(INTERNET, "agent.example.com")
        async with relay_to("127.0.0.1", greeting, network=machine.internet, address=(INTERNET, 443)) as relay:
            asking = await _ask(machine, "agent.example.com", 443, tmp_path)
            assert await asking.stdout.readline() == b"hello\n"
            assert relay.peers == [ROUTER_OUTSIDE]
            await machine.unplug()
            passed = relay.out.passed
            asking.stdin.write(b"anybody?\n")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await asking.stdout.readline()
            assert relay.out.passed == passed
            await machine.plug_in()
            assert await asking.stdout.readline() == b"anybody?\n"
            asking.stdin.close()
            assert await asking.wait() == 0


async def test_nothing_reaches_the_machine_from_outside(tmp_path):
    serve = "import socket; s = socket.create_server(('', 9000)); print(flush=True); s.accept()"
    async with asyncio.timeout(WAIT_S), other_machine() as machine:
        serving = await machine.start(
            *(sys.executable, "-c", serve), env=dict(os.environ), cwd=tmp_path, stdout=asyncio.subprocess.PIPE
        )
        await serving.stdout.readline()
        for address in (MACHINE, ROUTER_OUTSIDE):
            with pytest.raises((TimeoutError, OSError)):
                async with asyncio.timeout(0.5):
                    await machine.internet.connect(address, 9000)
        _, writer = await machine.router.connect(MACHINE, 9000)
        assert await serving.wait() == 0
        writer.close()


async def test_behind_a_closed_router_its_proxy_is_the_only_way(greeting, tmp_path):
    connect = """
import socket
with socket.create_connection(("10.77.0.1", 3128)) as asking:
    asking.sendall(b"CONNECT agent.example.com:443 HTTP/1.1\\r\\n\\r\\n")
    print(asking.makefile("rb").readline().decode(), flush=True)
"""
    names = {"agent.example.com:443": (INTERNET, 443)}
    async with (
        asyncio.timeout(WAIT_S),
        other_machine() as machine,
        relay_to("127.0.0.1", greeting, network=machine.internet, address=(INTERNET, 443)) as relay,
        connect_proxy(names, network=machine.router, address=(ROUTER, 3128)) as proxy,
    ):
        await machine.close_router()
        words = (sys.executable, "-c", connect)
        asking = await machine.start(*words, env=dict(os.environ), cwd=tmp_path, stdout=asyncio.subprocess.PIPE)
        assert b"200" in await asking.stdout.readline()
        await asking.wait()
        assert proxy.tunnels == ["agent.example.com:443"]
        assert relay.peers == [ROUTER_OUTSIDE]
        direct = await _ask(machine, INTERNET, 443, tmp_path)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await direct.stdout.readline()
        assert relay.peers == [ROUTER_OUTSIDE]


async def test_nothing_is_left_of_it_when_a_test_fails(tmp_path):
    """Its processes, detached ones too, its networks, and what it changed of /etc."""
    hosts = Path("/etc/hosts").read_text()
    running: list[asyncio.subprocess.Process] = []
    networks: set[str] = set()

    async def fail() -> None:
        async with other_machine() as machine:
            await machine.name(INTERNET, "agent.example.com")
            words = ("sh", "-c", "setsid sleep 3600 & echo; sleep 3600")
            started = await machine.start(*words, env=dict(os.environ), cwd=tmp_path, stdout=asyncio.subprocess.PIPE)
            running.append(started)
            await started.stdout.readline()
            parts = (machine.network, machine.router, machine.internet)
            networks.update(os.readlink(f"/proc/{each.pid}/ns/net") for each in parts)
            assert networks <= set(_networks())
            raise ZeroDivisionError

    async with asyncio.timeout(WAIT_S):
        with pytest.raises(ZeroDivisionError):
            await fail()
        await running[0].wait()
    assert len(networks) == 3
    assert not networks & set(_networks())
    assert Path("/etc/hosts").read_text() == hosts
    assert not Path("/mnt/hosts").exists()


def _networks() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append(os.readlink(process / "ns/net"))
        except OSError:
            continue  # it has ended meanwhile
    return found
