"""Floods of who shows no credential: ten seconds each, with the server's memory flat and others served meanwhile."""

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from agentcore.hosts.wire.frames import PROTOCOL, encode_chunk
from agentcore.hosts.wire.web_socket_link import SOCKET_PATH
from tests.server.test_serve import PROGRAM

pytestmark = [pytest.mark.more, pytest.mark.processes, pytest.mark.spec("S1", "S7")]

FLOOD_SECONDS = 10.0
WAIT_S = 60.0
FLOODING = 24
"""Flooding clients at one time."""

GROWTH_BYTES = 96 * 1024 * 1024
"""What the server may grow by: buffers of connections, and what Python keeps of memory that it has freed."""

ADDRESS_SPACE_BYTES = 6 * 1024**3
"""A server that grows without end fails, instead of the machine."""


class Flooded:
    """A server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        (folder / "app.json").write_text(json.dumps({"modules": []}))
        state = folder / "state"
        with (folder / "log").open("w") as log:  # it logs what it refuses
            self.process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(folder / "app.json")],
                env={**os.environ, "AGENTCORE_STATE_DIR": str(state)},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
        end = time.monotonic() + WAIT_S
        while "server_ready" not in (folder / "log").read_text():
            assert self.process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.05)
        info = json.loads((state / "server.json").read_text())
        self.address = info["addresses"]["page"]
        self.token = (state / "token").read_text().strip()

    @property
    def resident_bytes(self) -> int:
        """Its memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def flooded(tmp_path):
    server = Flooded(tmp_path)
    yield server
    server.close()


Attack = Callable[[Flooded], Awaitable[None]]


async def flood(server: Flooded, attack: Attack) -> int:
    """Repeat an attack from many clients for ten seconds, and ask for what others ask for; gives how often it ran."""
    end = time.monotonic() + FLOOD_SECONDS
    count = 0

    async def repeat() -> None:
        nonlocal count
        while time.monotonic() < end:
            with contextlib.suppress(aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError):
                await attack(server)
            count += 1

    async def ask() -> int:
        answered = 0
        shown = {"Authorization": f"Bearer {server.token}"}
        async with aiohttp.ClientSession(server.address, headers=shown) as client:
            while time.monotonic() < end:
                async with asyncio.timeout(FLOOD_SECONDS):
                    async with client.get("/api/modules") as answer:
                        assert answer.status == 200
                answered += 1
                await asyncio.sleep(0.05)
        return answered

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask())
        for _ in range(FLOODING):
            group.create_task(repeat())
    assert asking.result() >= FLOOD_SECONDS, "others were hardly served"
    return count


async def greet(server: Flooded, *messages: str | bytes) -> None:
    """Dial in as a host without a key, say something, and hear what the server says to it."""
    async with (
        aiohttp.ClientSession(server.address) as client,
        client.ws_connect(SOCKET_PATH, protocols=(PROTOCOL,)) as socket,
    ):
        for message in messages:
            await (socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message))
        await socket.receive()


def greeting(size: int) -> str:
    """A greeting of some size."""
    tools = [{"name": f"t{number}", "description": "x" * 300, "input_schema": {}} for number in range(size // 350)]
    member = {"module": 1, "name": "m", "fingerprint": "", "attributes": {}, "description": "", "settings": None}
    members = [{**member, "config_key": None, "tools": tools, "problems": []}]
    said = {"type": "hello", "protocol": PROTOCOL, "name": "flood", "pid": 1, "instance": "i", "members": members}
    return json.dumps(said)


async def silent(server: Flooded) -> None:
    """Open many connections to where hosts dial in, and say nothing there."""
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(aiohttp.ClientSession(server.address))
        for _ in range(25):
            with contextlib.suppress(aiohttp.WSServerHandshakeError):
                await stack.enter_async_context(client.ws_connect(SOCKET_PATH, protocols=(PROTOCOL,)))


async def send_cookies(server: Flooded, count: int, size: int) -> None:
    """Ask for the page with cookies that another local server has set."""
    host = server.address.removeprefix("http://")
    name, _, port = host.partition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        cookies = "; ".join(f"agentcore_page_{'0' * 32}={'x' * size}" for _ in range(count))
        head = f"GET /api/tools HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: text/html\r\n"
        writer.write(f"{head}X-Agentcore-Session: x\r\nCookie: {cookies}\r\n\r\n".encode())
        await reader.read()
    finally:
        writer.close()


LONG_GREETING = greeting(3_900_000)
SHORT_GREETING = greeting(60_000)
BLOBS = [encode_chunk(number, b"x" * 65_000, is_last=False) for number in range(1, 15)]

ATTACKS: dict[str, Attack] = {
    "long greetings": lambda server: greet(server, LONG_GREETING),
    "greetings that are just short enough": lambda server: greet(server, SHORT_GREETING),
    "blobs that nobody asked for": lambda server: greet(server, *BLOBS),
    "sockets that say nothing": silent,
    "cookies of our name": lambda server: send_cookies(server, 100, 10),
    "more cookies than a request may have": lambda server: send_cookies(server, 180, 4000),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_flood_without_a_credential_costs_no_memory_and_others_are_served(flooded, attack):
    # once before: code that is imported at first use, and buffers that stay
    with contextlib.suppress(aiohttp.ClientError, ConnectionError):
        await ATTACKS[attack](flooded)
    before = flooded.resident_bytes
    assert await flood(flooded, ATTACKS[attack]) >= FLOODING
    assert flooded.process.poll() is None
    assert flooded.resident_bytes - before < GROWTH_BYTES
