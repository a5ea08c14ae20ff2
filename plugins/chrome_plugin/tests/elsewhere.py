"""Browsers that are not started by the modules: somebody's, and those of Playwright servers; and links to them."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from aiohttp import web

LIMIT_S = 120
_START_SECONDS = 120
_CHUNK_BYTES = 65_536
OTHER_VERSION = Path(__file__).parents[3] / "node_modules" / "playwright-core" / "cli.js"
"""Another version of Playwright than the one that is used here; there after `npm install`."""
_LAUNCH_SERVER = """
const {chromium} = require(process.argv[1]);
chromium.launchServer({executablePath: process.argv[2], chromiumSandbox: false, host: '127.0.0.1'})
    .then(server => console.log(`Listening on ${server.wsEndpoint()}`));
"""


@dataclass
class Server:
    """A Playwright server, and its process."""

    endpoint: str
    process: asyncio.subprocess.Process

    @property
    def port(self) -> int:
        return int(self.endpoint.split(":")[2].split("/")[0])

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()


@asynccontextmanager
async def _running(command: Sequence[str]) -> AsyncIterator[Server]:
    environment = {**os.environ, "PLAYWRIGHT_BROWSERS_PATH": "/nonexistent"}  # so that only a named program can start
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, env=environment, start_new_session=True
    )
    server = Server("", process)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(_START_SECONDS):
            line = (await process.stdout.readline()).decode()
        server.endpoint = line.partition("Listening on ")[2].strip()
        assert server.endpoint, f"the server did not start: {line}"
        yield server
    finally:
        await server.kill()


def run_server(*switches: str) -> contextlib.AbstractAsyncContextManager[Server]:
    """`playwright run-server`, which starts a browser for each connection."""
    return _running([sys.executable, "-m", "playwright", "run-server", "--port=0", "--host=127.0.0.1", *switches])


def other_version() -> contextlib.AbstractAsyncContextManager[Server]:
    """The same of another version."""
    return _running(["node", os.fspath(OTHER_VERSION), "run-server", "--port=0", "--host=127.0.0.1"])


def launch_server(browser: str) -> contextlib.AbstractAsyncContextManager[Server]:
    """`chromium.launchServer()`: one browser for all connections, at a path that nobody guesses."""
    import playwright

    driver = Path(playwright.__file__).parent / "driver"
    return _running([os.fspath(driver / "node"), "-e", _LAUNCH_SERVER, os.fspath(driver / "package"), browser])


class Link:
    """A port that leads to another one, until it is cut."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server: asyncio.Server | None = None
        self._ends: set[asyncio.StreamWriter] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self.port = 0

    async def mend(self) -> None:
        """Let connections through."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """End all connections in the middle of whatever they carry, and take no others."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._carrying:
            task.cancel()
        for end in self._ends:
            end.transport.abort()
        await asyncio.gather(*self._carrying, return_exceptions=True)
        self._ends.clear()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._ends |= {writer, far_writer}
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.ensure_future(_carry(source, sink))
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def link_to(port: int) -> AsyncIterator[Link]:
    link = Link(port)
    await link.mend()
    try:
        yield link
    finally:
        await link.cut()


class Person:
    """Somebody's browser with a remote debugging port, and what they do in it, by the protocol itself."""

    def __init__(self, process, port, http):
        self.process, self.port, self._http = process, port, http
        self.endpoint = f"http://127.0.0.1:{port}"
        self._ids = itertools.count(1)

    async def pages(self):
        """Their pages: address by target id."""
        async with self._http.get(f"{self.endpoint}/json/list") as response:
            return {one["id"]: one["url"] for one in await response.json() if one["type"] == "page"}

    async def open(self, url):
        async with self._http.put(f"{self.endpoint}/json/new?{url}") as response:
            target = (await response.json())["id"]
        async with self.at(target) as page, asyncio.timeout(LIMIT_S):
            loaded = (
                "new Promise(done => document.readyState === 'complete' ? done(1) : addEventListener('load', done))"
            )
            while (await page.value(f"location.href !== 'about:blank' && {loaded}.then(() => 1)")) != 1:
                await asyncio.sleep(0.05)
        return target

    @asynccontextmanager
    async def at(self, target):
        async with self._http.ws_connect(f"ws://127.0.0.1:{self.port}/devtools/page/{target}") as socket:
            yield Tab(socket, self._ids)

    async def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()


class Tab:
    """One page of theirs."""

    def __init__(self, socket, ids):
        self._socket, self._ids = socket, ids
        self.events = []

    async def send(self, method, **parameters):
        number = next(self._ids)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return number

    async def until(self, condition):
        async with asyncio.timeout(LIMIT_S):
            while True:
                told = json.loads((await self._socket.receive()).data)
                self.events.append(told.get("method"))
                if condition(told):
                    return told

    async def call(self, method, **parameters):
        number = await self.send(method, **parameters)
        return (await self.until(lambda told: told.get("id") == number)).get("result", {})

    async def value(self, script):
        told = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        return told.get("result", {}).get("value")


@asynccontextmanager
async def somebodys_browser(program, port=0, switches=()):
    with tempfile.TemporaryDirectory(prefix="ac-") as folder:
        process = await asyncio.create_subprocess_exec(
            program, "--headless=new", "--no-sandbox", "--no-first-run", f"--remote-debugging-port={port}",
            f"--user-data-dir={folder}", *switches, "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            async with aiohttp.ClientSession() as http, asyncio.timeout(2 * LIMIT_S):
                while b"DevTools listening" not in (line := await process.stderr.readline()):
                    assert line, "the browser did not start"
                port = int(line.decode().split("127.0.0.1:")[1].split("/")[0])
            async with aiohttp.ClientSession() as http:
                yield Person(process, port, http)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await process.wait()


@asynccontextmanager
async def without_screencast(person):
    """The address of somebody's browser that has no screencast, as some shells have none."""

    async with aiohttp.ClientSession() as http, http.get(f"{person.endpoint}/json/version") as answer:
        address = (await answer.json())["webSocketDebuggerUrl"]

    async def carry(request):
        near = web.WebSocketResponse(max_msg_size=0)
        await near.prepare(request)
        async with (
            aiohttp.ClientSession() as http,
            http.ws_connect(address, max_msg_size=0) as far,
            asyncio.TaskGroup() as group,
        ):
            back = group.create_task(answers(far, near))
            async for message in near:
                told = json.loads(message.data)
                if told["method"] == "Page.startScreencast":
                    error = {"code": -32601, "message": "'Page.startScreencast' wasn't found"}
                    await near.send_json({"id": told["id"], "sessionId": told.get("sessionId"), "error": error})
                else:
                    await far.send_str(message.data)
            back.cancel()
        return near

    async def answers(far, near):
        async for message in far:
            await near.send_str(message.data)

    app = web.Application()
    app.router.add_get("/devtools/browser/any", carry)
    runner = web.AppRunner(app, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"ws://127.0.0.1:{runner.addresses[0][1]}/devtools/browser/any"
    finally:
        await runner.cleanup()
