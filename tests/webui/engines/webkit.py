"""WebKitGTK, the engine of Safari, over WebDriver (https://w3c.github.io/webdriver/), on a screen that nobody sees."""

import asyncio
import base64
import contextlib
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp.test_utils import unused_port

from tests.webui.engines.page import Action, DriverHangsError, NotNowError

BROWSERS = "*-linux-gnu*/webkit2gtk-4.*/MiniBrowser"
"""Where Debian puts the browser that belongs to the driver, below /usr/lib."""
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_START_S, _ANSWER_S = 120, 60
_NOT_NOW = {"no such frame", "no such element", "no such window", "stale element reference"}
_FRAME = """(address) => {
  const visit = (root) => {
    for (const each of root.querySelectorAll('*')) {
      if (each.tagName === 'IFRAME' && each.src.startsWith(address)) return each;
      const found = each.shadowRoot && visit(each.shadowRoot);
      if (found) return found;
    }
    return null;
  };
  return visit(document);
}"""

_BOX = "(element) => element.getBoundingClientRect().toJSON()"


@dataclass
class Session:
    """A browser that a driver holds. Its commands go to one window and one frame, which are switched to before."""

    client: aiohttp.ClientSession
    path: str
    window: str = ""
    hangs: bool = False

    async def ask(self, method: str, command: str, **body: Any) -> Any:
        """The value that answers a command."""
        if self.hangs:
            raise DriverHangsError(command)
        document = body if method == "POST" else None
        try:
            async with (
                asyncio.timeout(_ANSWER_S),
                self.client.request(method, self.path + command, json=document) as reply,
            ):
                value = (await reply.json())["value"]
        except TimeoutError:
            self.hangs = True
            raise DriverHangsError(f"no answer to {method} {command} within {_ANSWER_S} s") from None
        if reply.status == 200:
            return value
        if value["error"] in _NOT_NOW:
            raise NotNowError(value["message"])
        raise RuntimeError(f"{command}: {value['error']}: {value['message']}")

    async def switch(self, window: str) -> None:
        """Let commands go to the document of a window."""
        if window != self.window:
            await self.ask("POST", "/window", handle=window)
            self.window = window
        await self.ask("POST", "/frame", id=None)


@dataclass
class WebKitDriver:
    """A window, or a frame in it."""

    session: Session
    handle: str
    frames: tuple[str, ...] = ()

    async def _ask(self, method: str, command: str, **body: Any) -> Any:
        await self._switch()
        return await self.session.ask(method, command, **body)

    async def _switch(self) -> tuple[float, float]:
        """Go to the document, and say where it begins in the view of the window."""
        await self.session.switch(self.handle)
        left = top = 0.0
        for address in self.frames:
            element = await self.session.ask("POST", "/execute/sync", **_script(_FRAME, address))
            if element is None:
                raise NotNowError(f"no frame {address}")
            box = await self.session.ask("POST", "/execute/sync", **_script(_BOX, element))
            left, top = left + box["x"], top + box["y"]
            await self.session.ask("POST", "/frame", id=element)
        return left, top

    async def open(self, address: str) -> None:
        await self._ask("POST", "/url", url=address)

    async def reload(self) -> None:
        await self._ask("POST", "/refresh")

    async def run(self, function: str, argument: Any) -> Any:
        wrapped = f"async (value) => JSON.stringify(await ({function})(value) ?? null)"
        return json.loads(await self._ask("POST", "/execute/sync", **_script(wrapped, argument)))

    async def pick(self, function: str, argument: Any, files: Sequence[Path]) -> None:
        field = await self._ask("POST", "/execute/sync", **_script(function, argument))
        paths = "\n".join(str(file) for file in files)
        await self.session.ask("POST", f"/element/{field[_ELEMENT]}/value", text=paths)

    async def act(self, sources: Sequence[Action]) -> None:
        # pointers go by the view of the window, also where commands go to a frame
        left, top = await self._switch()
        await self.session.ask("POST", "/actions", actions=[_moved(source, left, top) for source in sources])

    async def resize(self, width: int, height: int) -> None:
        await self._ask("POST", "/window/rect", x=0, y=0, width=width, height=height)

    async def picture(self) -> bytes:
        return base64.b64decode(await self._ask("GET", "/screenshot"))

    async def frame(self, address: str) -> "WebKitDriver | None":
        await self._switch()
        if await self.session.ask("POST", "/execute/sync", **_script(_FRAME, address)) is None:
            return None
        return WebKitDriver(self.session, self.handle, (*self.frames, address))

    async def window(self, address: str) -> "WebKitDriver | None":
        for handle in await self.session.ask("GET", "/window/handles"):
            await self.session.switch(handle)
            if (await self.session.ask("GET", "/url")).startswith(address):
                return WebKitDriver(self.session, handle)
        return None


def _script(function: str, argument: Any) -> dict[str, Any]:
    return {"script": f"return ({function})(arguments[0]);", "args": [argument]}


def _moved(source: Action, left: float, top: float) -> Action:
    return {
        **source,
        "actions": [
            {**each, "x": round(each["x"] + left), "y": round(each["y"] + top)} if "x" in each else each
            for each in source["actions"]
        ],
    }


class WebKit:
    """A running browser, with its driver, which is started again once it gives no answer any more.

    Args:
        program: The driver.
        display: The X display.
        folder: For what the console says.
    """

    def __init__(self, program: str, display: str, folder: Path) -> None:
        (self._browser, *_) = [str(path) for path in Path("/usr/lib").glob(BROWSERS)]
        self._program = program
        self._display = display
        self._log = folder / "console.log"
        self._held = AsyncExitStack()
        self.session: Session

    @property
    def errors(self) -> list[str]:
        """What its console said was wrong, oldest first."""
        return re.findall(r"CONSOLE \S+ ERROR .*", self._log.read_text(errors="replace"))

    async def start(self) -> None:
        """Start the driver and the browser."""
        port = unused_port()
        with self._log.open("ab") as output:
            driver = await asyncio.create_subprocess_exec(
                *(self._program, f"--port={port}"),
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                env=_environment(self._display),
                start_new_session=True,
            )
        self._held.push_async_callback(_kill, driver)
        client = await self._held.enter_async_context(aiohttp.ClientSession(f"http://127.0.0.1:{port}"))
        async with asyncio.timeout(_START_S):
            await _until_ready(client)
        self.session = Session(client, "/session")
        self.session.path += "/" + (await self.session.ask("POST", "", **_wanted(self._browser)))["sessionId"]

    async def end(self) -> None:
        """Stop the driver and the browser, even if they hang."""
        await self._held.aclose()

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[WebKitDriver]:
        """Its one window. Cookies and storage stay from test to test: each has a server of its own, with its own."""
        try:
            first = await self.session.ask("GET", "/window")
        except DriverHangsError:
            await self.end()
            await self.start()
            first = await self.session.ask("GET", "/window")
        session = self.session
        driver = WebKitDriver(session, first)
        yield driver
        if session.hangs:
            return  # the next test starts it again
        for each in await session.ask("GET", "/window/handles"):
            if each != first:
                await session.switch(each)
                await session.ask("DELETE", "/window")
        await driver.open("about:blank")


async def _kill(driver: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)  # with its browser
    await driver.wait()


@asynccontextmanager
async def running_webkit(program: str, folder: Path) -> AsyncIterator[WebKit]:
    """The driver, on a screen that nobody sees."""
    screen = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert screen.stdout is not None
        async with asyncio.timeout(_START_S):
            display = (await screen.stdout.readline()).decode().strip()
        browser = WebKit(program, display, folder)
        try:
            await browser.start()
            yield browser
        finally:
            await browser.end()
    finally:
        screen.terminate()
        await screen.wait()


def _wanted(browser: str) -> dict[str, Any]:
    # a whole screen has no bars: its view can be as narrow as a phone's
    arguments = ["--automation", "--full-screen", "--enable-write-console-messages-to-stdout=true"]
    return {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": {"binary": browser, "args": arguments}}}}


def _environment(display: str) -> dict[str, str]:
    own = {"DISPLAY": f":{display}", "GDK_BACKEND": "x11", "LANG": "en_US.UTF-8", "LIBGL_ALWAYS_SOFTWARE": "1"}
    if os.getuid() == 0:
        own["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"  # its sandbox does not start for root
    return {**os.environ, **own}


async def _until_ready(client: aiohttp.ClientSession) -> None:
    while True:
        try:
            async with client.get("/status") as reply:
                if (await reply.json())["value"]["ready"]:
                    return
        except aiohttp.ClientConnectionError:
            await asyncio.sleep(0.05)
