"""A server and hosts on other machines, each a process of its own, as people start them."""

import asyncio
import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.forking import AsyncCommand, start_command

WAIT_S = 60.0
_CODE = re.compile(r"approval view of \S+: ([0-9A-Z]{5}-[0-9A-Z]{5})")


class Place:
    """A machine's folder with its app.json, its workspace and its own state."""

    def __init__(self, folder: Path, **app: Any) -> None:
        self.folder, self.workspace = folder / "app", folder / "app" / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.state = folder / "state"
        self.environ = {**os.environ, "AGENTCORE_STATE_DIR": str(self.state), "AGENTCORE_TOKEN": "t" * 43}
        self.write_app(**app)

    def write_app(self, **app: Any) -> None:
        """What the machine runs."""
        (self.folder / "app.json").write_text(json.dumps(app))

    def add_module(self, name: str, source: str) -> None:
        """A local module."""
        (self.folder / "modules").mkdir(exist_ok=True)
        (self.folder / "modules" / f"{name}.py").write_text(source)


class Server:
    """A server that runs, for a program with its token, and for a person in its approval view."""

    def __init__(self, process: AsyncCommand, address: str, client: aiohttp.ClientSession) -> None:
        self.process, self.address, self._client = process, address, client
        self.person: aiohttp.ClientSession
        self.log: list[dict[str, Any]] = []

    async def call(self, tool: str, *, session_id: str = "s0", **rest: Any) -> Any:
        """Call a tool; `call_id`, `host`, `timeout_ms`, `resource_id` are the request's, the others its arguments."""
        request = {name: rest.pop(name) for name in ("call_id", "host", "timeout_ms", "resource_id") if name in rest}
        return await self.post(f"/api/tools/{tool}/call", arguments=rest, session_id=session_id, **request)

    async def get(self, path: str) -> Any:
        """What the API answers."""
        async with self._client.get(path) as response:
            return await response.json()

    async def post(self, path: str, **body: Any) -> Any:
        """The same of a POST."""
        async with self._client.post(path, json=body) as response:
            return await response.json()

    async def delete(self, path: str) -> Any:
        """The same of a DELETE."""
        async with self._client.delete(path) as response:
            return await response.json()

    async def decide(self, path: str, **body: Any) -> Any:
        """What the approval view answers to a person."""
        async with self.person.post(path, json=body) as response:
            return await response.json()

    async def let_in(self, code: str) -> Any:
        """Let the host in that shows a code; gives what the person was shown."""
        shown = await self.decide("/api/host-pairings", code=code)
        assert "pairingId" in shown, shown
        answer = await self.decide(f"/api/host-pairings/{shown['pairingId']}/decision", accept=True)
        assert answer == {"ok": True}, answer
        return shown

    async def host(self, name: str) -> Any:
        """How a host stands; None: there is none."""
        found = [each for each in (await self.get("/api/hosts"))["hosts"] if each["name"] == name]
        return found[0] if found else None

    async def host_is(self, name: str, state: str) -> Any:
        """Wait until a host is in a state."""
        async with asyncio.timeout(WAIT_S):
            while (found := await self.host(name)) is None or found["state"] != state:
                await asyncio.sleep(0.05)
        return found

    async def kill(self) -> None:
        """End it as a crash does."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


class Turn:
    """One turn of a chat, followed by its events."""

    def __init__(self, server: Server, session_id: str) -> None:
        self._server, self.session_id = server, session_id
        self.seen: list[dict[str, Any]] = []

    async def follow(self) -> None:
        """Send a message, and read the events of the turn to its end."""
        path = f"/api/events?types=session.*&session_id={self.session_id}"
        async with self._server._client.get(path) as events:
            await events.content.readline()
            await self._server.post(f"/api/sessions/{self.session_id}/messages", text="do it all")
            async for line in events.content:
                if line.startswith(b"data: "):
                    self.seen.append(json.loads(line[6:]))
                    if self.seen[-1]["type"] == "session.finished":
                        return


class Worker:
    """`agentcore host` that runs on another machine."""

    def __init__(self, process: AsyncCommand | asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._news = asyncio.Event()

    async def read(self) -> None:
        """Read what it prints, until it ends."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            self.lines.append(line.decode().rstrip("\n"))
            self._news.set()

    async def said(self, pattern: str) -> re.Match[str]:
        """Wait until it has printed something; gives it."""
        async with asyncio.timeout(WAIT_S):
            while (found := re.search(pattern, "\n".join(self.lines))) is None:
                self._news.clear()
                await self._news.wait()
        return found

    async def code(self) -> str:
        """The code by which it is let in."""
        return (await self.said(_CODE.pattern))[1]

    def send(self, number: signal.Signals) -> None:
        """Send its process a signal."""
        self.process.send_signal(number)

    async def kill(self) -> None:
        """End it as a crash does."""
        self.send(signal.SIGKILL)
        await self.process.wait()


@asynccontextmanager
async def serving(place: Place, *arguments: str) -> AsyncIterator[Server]:
    """`agentcore serve`; it may have been killed at the end."""
    code_file = place.folder.parent / f"code-{secrets.token_hex(4)}"
    process = await start_command(
        *("serve", "--approver-code-file", str(code_file), *(arguments or ("--port", "0"))),
        cwd=place.folder,
        env=place.environ,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    reading: asyncio.Task[None] | None = None
    try:
        assert process.stderr is not None
        async with asyncio.timeout(WAIT_S):
            while (line := json.loads(await process.stderr.readline()))["event"] != "server_ready":
                pass
        headers, jar = {"Authorization": f"Bearer {place.environ['AGENTCORE_TOKEN']}"}, aiohttp.CookieJar(unsafe=True)
        async with (
            aiohttp.ClientSession(line["address"], headers=headers) as client,
            aiohttp.ClientSession(line["approval_address"], cookie_jar=jar) as person,
        ):
            server = Server(process, line["address"], client)
            reading = asyncio.create_task(_read_log(process.stderr, server.log))
            async with person.post("/api/session", json={"code": code_file.read_text().strip()}) as response:
                person.headers["X-Agentcore-Session"] = (await response.json())["session"]
            server.person = person
            yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        if reading is not None:
            await reading


async def _read_log(stream: asyncio.StreamReader, log: list[dict[str, Any]]) -> None:
    while line := await stream.readline():
        with contextlib.suppress(ValueError):
            log.append(json.loads(line))


@asynccontextmanager
async def dialling(place: Place, address: str, name: str, *arguments: str, **environ: str) -> AsyncIterator[Worker]:
    """`agentcore host` of a machine; it may have been killed at the end."""
    process = await start_command(
        *("host", "--server", address, "--name", name, *arguments),
        cwd=place.folder,
        env=place.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    worker = Worker(process)
    reading = asyncio.create_task(worker.read())
    try:
        yield worker
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        await reading


@asynccontextmanager
async def paired(server: Server, place: Place, name: str, *arguments: str, address: str = "") -> AsyncIterator[Worker]:
    """A host that was let in, and is connected."""
    async with dialling(place, address or server.address, name, *arguments) as worker:
        await server.let_in(await worker.code())
        await server.host_is(name, "running")
        yield worker
