"""Firefox over WebDriver BiDi (https://w3c.github.io/webdriver-bidi/), which it speaks by itself."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests.webui.engines.page import Action, NotNowError

PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "intl.accept_languages": "en-US",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "ui.allPointerCapabilities": 6,  # a mouse, which a screen that nobody sees has not
    "ui.prefersReducedMotion": 1,
    "ui.primaryPointerCapabilities": 6,
}
_START_S, _ANSWER_S = 120, 120
_NOT_NOW = {"no such frame", "no such node", "no such element", "no such window"}


class Connection:
    """Commands to Firefox, and what it tells meanwhile."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = 0
        self.errors: list[str] = []

    async def read(self) -> None:
        """Read until the browser ends."""
        async for message in self._socket:
            said = json.loads(message.data)
            if said["type"] == "event":
                self._hear(said["params"])
            elif not (answer := self._answers.pop(said["id"])).done():
                answer.set_result(said)

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command."""
        self._last += 1
        answer = self._answers[self._last] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": self._last, "method": method, "params": parameters})
        async with asyncio.timeout(_ANSWER_S):
            said = await answer
        if said["type"] == "success":
            return dict(said["result"])
        if said["error"] in _NOT_NOW:
            raise NotNowError(said["message"])
        raise RuntimeError(f"{method}: {said['error']}: {said['message']}")

    def _hear(self, entry: dict[str, Any]) -> None:
        if entry.get("level") == "error":
            self.errors.append(f"{entry['text']} {entry['source'].get('realm', '')}")


@dataclass
class FirefoxDriver:
    """A tab or a frame."""

    connection: Connection
    context: str
    user: str

    async def open(self, address: str) -> None:
        await self.connection.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    async def reload(self) -> None:
        await self.connection.ask("browsingContext.reload", context=self.context, wait="complete")

    async def run(self, function: str, argument: Any) -> Any:
        said = await self._call(
            f"async (text) => JSON.stringify(await ({function})(JSON.parse(text)) ?? null)", argument
        )
        return json.loads(said["value"])

    async def pick(self, function: str, argument: Any, files: Sequence[Path]) -> None:
        said = await self._call(f"(text) => ({function})(JSON.parse(text))", argument)
        field, paths = {"sharedId": said["sharedId"]}, [str(file) for file in files]
        await self.connection.ask("input.setFiles", context=self.context, element=field, files=paths)

    async def _call(self, declaration: str, argument: Any) -> dict[str, Any]:
        said = await self.connection.ask(
            "script.callFunction",
            functionDeclaration=declaration,
            arguments=[{"type": "string", "value": json.dumps(argument)}],
            target={"context": self.context},
            awaitPromise=True,
        )
        if said["type"] == "exception":
            raise RuntimeError(said["exceptionDetails"]["text"])
        return dict(said["result"])

    async def act(self, sources: Sequence[Action]) -> None:
        await self.connection.ask("input.performActions", context=self.context, actions=list(sources))

    async def resize(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        await self.connection.ask("browsingContext.setViewport", context=self.context, viewport=viewport)

    async def picture(self) -> bytes:
        said = await self.connection.ask("browsingContext.captureScreenshot", context=self.context)
        return base64.b64decode(said["data"])

    async def frame(self, address: str) -> "FirefoxDriver | None":
        tree = await self.connection.ask("browsingContext.getTree", root=self.context)
        return self._first(tree["contexts"][0]["children"], address)

    async def window(self, address: str) -> "FirefoxDriver | None":
        tree = await self.connection.ask("browsingContext.getTree", maxDepth=0)
        found = self._first([each for each in tree["contexts"] if each["userContext"] == self.user], address)
        if found:
            # a tab that nobody looks at is hidden, and nothing in it counts as seen
            await self.connection.ask("browsingContext.activate", context=found.context)
        return found

    def _first(self, contexts: Sequence[dict[str, Any]], address: str) -> "FirefoxDriver | None":
        for each in contexts:
            if each["url"].startswith(address):
                return FirefoxDriver(self.connection, each["context"], self.user)
            if found := self._first(each["children"] or (), address):
                return found
        return None


@dataclass
class Firefox:
    """A running Firefox."""

    connection: Connection

    @property
    def errors(self) -> list[str]:
        """What its console said was wrong, oldest first."""
        return self.connection.errors

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[FirefoxDriver]:
        """A tab with cookies and storage of its own."""
        user = (await self.connection.ask("browser.createUserContext"))["userContext"]
        tab = await self.connection.ask("browsingContext.create", type="tab", userContext=user)
        yield FirefoxDriver(self.connection, tab["context"], user)
        await self.connection.ask("browser.removeUserContext", userContext=user)


@asynccontextmanager
async def running_firefox(program: str, folder: Path) -> AsyncIterator[Firefox]:
    """Firefox with a profile of its own."""
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines))
    process = await asyncio.create_subprocess_exec(
        *(program, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port=0"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(_START_S):
            address = await _address(process.stderr)
        async with (
            asyncio.TaskGroup() as group,
            aiohttp.ClientSession() as client,
            client.ws_connect(f"{address}/session", max_msg_size=0) as socket,
        ):
            drain = group.create_task(_drain(process.stderr))
            connection = Connection(socket)
            reading = group.create_task(connection.read())
            await connection.ask("session.new", capabilities={})
            await connection.ask("session.subscribe", events=["log.entryAdded"])
            yield Firefox(connection)
            await connection.ask("browser.close")
            await process.wait()
            reading.cancel()
            drain.cancel()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(stderr: asyncio.StreamReader) -> str:
    async for line in stderr:
        if b"WebDriver BiDi listening on" in line:
            return line.split()[-1].decode()
    raise RuntimeError("Firefox ended before it listened")


async def _drain(stderr: asyncio.StreamReader) -> None:
    async for _ in stderr:
        pass
