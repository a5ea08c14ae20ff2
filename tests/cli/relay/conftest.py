"""Clients on pipes of `agentcore mcp`, the shop that they visit, and its server."""

import json
import os
import signal
import subprocess
import threading
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, Server, make_place
from tests.forking import Command

SHOP = '''
import asyncio
from pathlib import Path

from agentcore.api import Module, ToolContext, tool


class Shop(Module):
    """A shop."""

    @tool(effects=["session"])
    async def shop_look(self, shelf: str) -> str:
        """Look at a shelf."""
        return f"{shelf}: 3"

    @tool(effects=["session"])
    async def shop_wait(self, ctx: ToolContext, path: str) -> str:
        """Write that it has begun, and wait for ever."""
        with open(path, "a") as file:
            file.write("begun ")
        await asyncio.Event().wait()
        return "never"

    @tool(effects=["session"])
    async def shop_open(self, ctx: ToolContext) -> str:
        """Open the shop."""
        ctx.log("the door is open")
        self.runtime.served_changed("shop://sign")
        return "open"

    @tool(effects=["session"], served_as="shop://sign")
    async def shop_sign(self) -> str:
        """The sign at the door."""
        return "open"
'''


class Client:
    """A client that starts `agentcore mcp`, and writes and reads its lines."""

    def __init__(self, place, *arguments, name="robot"):
        pipe = subprocess.PIPE
        words = ("mcp", "--client", name, "--config", str(place.folder / "app.json"), *arguments)
        self.process = Command(*words, stdin=pipe, stdout=pipe, stderr=pipe, **place.options())
        self._limit = threading.Timer(LIMIT_S, self.process.kill)
        self._limit.daemon = True
        self._limit.start()
        self.told = []

    def write(self, *messages):
        """Write messages, or bytes as they are."""
        try:
            for message in messages:
                self.process.stdin.write(
                    message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
                )
            self.process.stdin.flush()
        except BrokenPipeError as exc:
            raise AssertionError(f"the relay ended: {self.process.stderr.read().decode()}") from exc

    def answer(self, request_id):
        """The answer to a request; what else comes is kept in `told`."""
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == request_id and "method" not in message:
                return message
            self.told.append(message)
        raise AssertionError(f"the relay ended: {self.process.stderr.read().decode()}")

    def heard(self, method):
        """The next notification of a kind, or the one that came before."""
        while (found := next((each for each in self.told if each.get("method") == method), None)) is None:
            line = self.process.stdout.readline()
            assert line, f"the relay ended: {self.process.stderr.read().decode()}"
            self.told.append(json.loads(line))
        return found

    def ask(self, method, params=None, request_id=7):
        """Send a request, and give its answer."""
        self.write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        return self.answer(request_id)

    def connect(self):
        """Shake hands."""
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = self.ask("initialize", about, 1)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, tool, request_id=7, **arguments):
        """Call a tool, and give the text of its result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments}, request_id)
        return answer["result"]["content"][0]["text"]

    def begin(self, tool, request_id, **arguments):
        """Send the call of a tool."""
        params = {"name": tool, "arguments": arguments}
        self.write({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})

    def end(self):
        """Close its end, and wait until the relay has ended."""
        self.process.stdin.close()
        self.process.wait(LIMIT_S)

    def close(self):
        self._limit.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):
                stream.close()


@pytest.fixture
def shop(empty_place):
    """A folder whose app.json lists a shop, and whose server ends with the test."""
    empty_place.add_module("shop", SHOP)
    empty_place.write_app(modules=["shop"])
    yield empty_place
    with suppress(ProcessLookupError, TypeError):
        os.kill(server_of(empty_place), signal.SIGKILL)


@pytest.fixture
def start(shop):
    """Start clients."""
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(closing(Client(shop, *arguments, **options)))


@pytest.fixture(scope="module")
def open_shop(tmp_path_factory):
    """A shop with a running server, for all tests of a file; they leave it as it is."""
    place = make_place(tmp_path_factory.mktemp("shop"))
    place.add_module("shop", SHOP)
    place.write_app(modules=["shop"])
    with closing(Server(place)) as server:
        server.wait_for("server_ready")
        yield place


@pytest.fixture
def visit(open_shop):
    """Start clients of the server that runs for all tests of the file."""
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(closing(Client(open_shop, *arguments, **options)))


@pytest.fixture(scope="module")
def visitor(open_shop):
    """A connected client, for all tests of a file."""
    with closing(Client(open_shop, name="visitor")) as client:
        client.connect()
        yield client


def server_of(place):
    """The process id of the running server; None: none runs."""
    with suppress(FileNotFoundError, ValueError):
        return json.loads((place.state / "server.json").read_text())["pid"]


def is_alive(pid):
    """Whether a process runs; one that has ended and is not waited for does not."""
    with suppress(FileNotFoundError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return False


def processes_of(place):
    """The ids of all processes that were started in a place: they have its state folder in their environment."""
    marked = f"AGENTCORE_STATE_DIR={place.state}".encode()
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if marked in path.read_bytes().split(b"\0"):
                found.add(int(path.parent.name))
    return found
