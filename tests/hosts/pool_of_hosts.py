"""A pool: a NATS server, hosts and servers, each a process of its own, as people start them."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.hosts.two_machines import WAIT_S, Place, Server, Worker, dialling
from tests.programs import find

COUNTING = '''
import asyncio, os
from agentcore.api import CallPreview, Image, Module, ResourceUse, ToolContext, ToolResult, tool


class Counting(Module):
    """Counts, for each session in a counter of its own."""

    @tool(resource=ResourceUse("counter", create=True), timeout_s=300)
    async def count(self, ctx: ToolContext, wait_for: str = "", note: str = "", resourceId: str | None = None) -> dict:
        """Count on, once a file is there."""
        own = ctx.resource
        if own.status != "ready":
            own.keys["count"] = "0"
            self.runtime.resources.adopt(own.resource_id, self._end)
            self.runtime.resources.update(own.resource_id, status="ready", title="a counter")
        if note:
            with open(note, "a") as log:
                log.write(f"{ctx.call_id}\\n")
        while wait_for and not os.path.exists(wait_for):
            await asyncio.sleep(0.02)
        own.keys["count"] = str(int(own.keys["count"]) + 1)
        return {"count": int(own.keys["count"]), "counter": own.resource_id}

    async def _end(self, resource) -> None:
        pass

    async def _preview(self, ctx: ToolContext, arguments) -> CallPreview:
        return CallPreview(words="draw breath")

    @tool(effects=("write",), preview=_preview)
    async def breathe(self) -> str:
        """Do nothing, of which it says what it would do."""
        return "ah"

    @tool(read_only=True)
    async def weigh(self, size: int) -> str:
        """Give a text of a size."""
        return "x" * size

    @tool(read_only=True)
    async def draw(self, size: int) -> ToolResult:
        """Give a picture of a size."""
        return ToolResult((Image(b"\\x89PNG" + os.urandom(size)),))
'''

STORING = '''
from agentcore.api import Module, ToolContext, tool


class Storing(Module):
    """Stores what it is given."""

    @tool()
    async def store(self, ctx: ToolContext, name: str, text: str, times: int = 1) -> str:
        """Store a text, so many times."""
        await self.runtime.storage.put(name, text.encode() * times)
        return "stored"

    @tool(read_only=True)
    async def look(self, ctx: ToolContext, name: str) -> str:
        """Give what was stored."""
        found = await self.runtime.storage.get(name)
        return "nothing" if found is None else found.decode()[-20:]

    @tool()
    async def drop(self, ctx: ToolContext, name: str) -> str:
        """Store it no more."""
        await self.runtime.storage.delete(name)
        return "dropped"
'''


def why_not() -> str:
    """Why there is no NATS here; empty: there is."""
    return "" if find("nats-server") else "nats-server is not installed"


class Nats:
    """A NATS server with JetStream, which can be killed and started again at the same port."""

    def __init__(self, folder: Path, config: str = "") -> None:
        self._folder, self._config = folder, config
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        """Where it is."""
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        program = find("nats-server")
        assert program is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        words = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self._folder / "data")]
        if self._config:
            (self._folder / "nats.conf").write_text(self._config)
            words += ["-c", str(self._folder / "nats.conf")]
        self.process = await asyncio.create_subprocess_exec(
            program, *words, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
        async with asyncio.timeout(WAIT_S):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    return
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        """End it as a crash does."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


@asynccontextmanager
async def nats_running(folder: Path, config: str = "") -> AsyncIterator[Nats]:
    """A NATS server; it may have been killed at the end."""
    nats = Nats(folder, config)
    await nats.start()
    try:
        yield nats
    finally:
        await nats.kill()


def pool_place(folder: Path, nats: Nats, *modules: str, models: object = None, **pool: object) -> Place:
    """A server's machine whose pool is `farm`; `models`: those of chats."""
    farm = {"kind": "nats", "servers": [nats.address], "modules": list(modules), **pool}
    approvals = {"mode": "allow"}
    return Place(folder, modules=[], hosts={"farm": farm}, approvals=approvals, models=models or {})


def member_place(folder: Path) -> Place:
    """A machine that brings `counting`."""
    place = Place(folder, modules=["counting"])
    place.add_module("counting", COUNTING)
    return place


@asynccontextmanager
async def member(place: Place, nats: Nats, name: str, *arguments: str) -> AsyncIterator[Worker]:
    """`agentcore host --pool farm`; it may have been killed at the end."""
    async with dialling(place, nats.address, name, "--pool", "farm", *arguments) as worker:
        try:
            yield worker
        finally:
            with contextlib.suppress(ProcessLookupError):
                worker.send(signal.SIGCONT)  # a test may have stopped it


async def members_running(server: Server, *names: str) -> None:
    """Wait until hosts are there, and have a person accept what they bring."""
    for name in names:
        await server.host_is(f"farm.{name}", "running")
    for change in await waiting_definitions(server):
        answer = await server.decide(f"/api/policy-changes/{change['changeId']}/decision", approved=True)
        assert answer["ok"], answer


async def waiting_definitions(server: Server) -> list[Any]:
    """The changes that wait for a person because of what hosts bring."""
    async with server.person.get("/api/approvals") as response:
        changes = (await response.json())["changes"]
    return [change for change in changes if change["kind"] == "definitions"]


def storing_place(folder: Path) -> Place:
    """A machine that brings `storing`."""
    place = Place(folder, modules=["storing"])
    place.add_module("storing", STORING)
    return place


async def say(server: Server, tool: str, session_id: str, /, **arguments: object) -> str:
    """Call a tool in a session; the text of its result."""
    told = await server.call(tool, session_id=session_id, **arguments)
    assert told.get("ok"), told
    text: str = told["content"][0]["text"]
    return text
