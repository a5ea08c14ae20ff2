"""A script of the page, from approval to result, against a bare WebSocket round trip in the same browser."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from playwright.async_api import Browser, async_playwright

from agentcore.api.tool_context import Principal
from agentcore.core.approvals.approval_queue import Verdict
from agentcore.core.calls.call import CallRequest
from agentcore.core.core import Core
from benchmarks.browser_hosts import find_browser
from benchmarks.measure import Row
from benchmarks.own_host import open_host

_ROUNDS = 200
_WARM_UP = 20
_PAUSE_S = 0.03
"""Before each sample: a person takes longer, and what the page shows of the last one is done by then."""

_MODEL = Principal("chat", "bench")
_BARE_PAGE = """<!doctype html><script>
const socket = new WebSocket(`ws://${location.host}/socket`);
socket.onmessage = ({data}) => {
  const {commandId, script} = JSON.parse(data);
  socket.send(JSON.stringify({commandId, result: eval(script)}));
};
</script>"""
_WITHOUT_SOCKETS = (
    "window.WebSocket = class { constructor() { setTimeout(() => this.onclose({code: 1006})); } close() {} }"
)


def run() -> list[Row]:
    """Measure, and give the rows; none where there is no Chromium."""
    chromium = find_browser()
    if chromium is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder) / "app", chromium))


async def _measure(folder: Path, chromium: str) -> list[Row]:
    folder.mkdir()
    app = {"modules": ["ui_page"], "server": {"port": 0}}
    async with open_host(folder, app) as core, served(core) as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        bare = await BareSocket.open(browser)
        await _open_page(browser, core, address)
        ours, floor = [], []
        for _ in range(_ROUNDS + _WARM_UP):
            ours.append(await evaluate(core))
            floor.append(await bare.evaluate())
        await _open_page(browser, core, address, _WITHOUT_SOCKETS)
        polled = [await evaluate(core) for _ in range(_ROUNDS // 4)]
        await browser.close()
        await bare.close()
    socket, round_trip = statistics.median(ours[_WARM_UP:]), statistics.median(floor[_WARM_UP:])
    return [
        Row("script of the page, from approval to result, against a bare WebSocket", socket, round_trip, 1.3),
        Row("the same by long poll", statistics.median(polled), round_trip, None),
    ]


@asynccontextmanager
async def page_in_browser(folder: Path) -> AsyncIterator[Core]:
    """A host whose page is open in a browser, ready for commands.

    Raises:
        RuntimeError: There is no Chromium.
    """
    chromium = find_browser()
    if chromium is None:
        raise RuntimeError("no Chromium here")
    folder.mkdir()
    app = {"modules": ["ui_page"], "server": {"port": 0}}
    async with open_host(folder, app) as core, served(core) as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        await _open_page(browser, core, address)
        yield core
        await browser.close()


@asynccontextmanager
async def served(core: Core) -> AsyncIterator[str]:
    """The server of a host, on a port of its own; gives its address."""
    from agentcore.server.app import create_app

    runner = web.AppRunner(create_app(core))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def _open_page(browser: Browser, core: Core, address: str, script: str = "") -> None:
    """Open the page in a context of its own and wait until it can be given commands: then it is the active one."""
    context = await browser.new_context()
    page = await context.new_page()
    if script:
        await page.add_init_script(script)
    await page.goto(f"{address}/#code={core.store.page_sessions.create_code()}")
    await page.evaluate("window.isBench = true")
    async with asyncio.timeout(60):
        while not await _is_ready(core, polls=bool(script)):
            await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            await asyncio.sleep(0.1)


async def _is_ready(core: Core, *, polls: bool) -> bool:
    way = "window.WebSocket.toString().includes('onclose')" if polls else "true"
    script = f"window.isBench === true && {way}"
    outcome = await core.run_call(CallRequest("ui_page_eval_js", {"script": script}, Principal("cli")))
    return outcome.result is not None and outcome.result.data["value"] is True


async def evaluate(core: Core) -> float:
    """Milliseconds from a person's word, as it comes to the queue, to the result."""
    request = CallRequest("ui_page_eval_js", {"script": "1+1"}, _MODEL, "bench", waits_for_approval=True)
    call = asyncio.create_task(core.run_call(request))
    while not core.approvals.waiting:
        await asyncio.sleep(0)
    (waiting,) = core.approvals.waiting
    await asyncio.sleep(_PAUSE_S)
    began = time.perf_counter()
    deciding = asyncio.create_task(
        core.approvals.decide_call(waiting.call_id, Verdict(approved=True, by="approver:bench"))
    )
    outcome = await call
    took = (time.perf_counter() - began) * 1000
    await deciding
    assert outcome.result is not None, outcome.error
    assert outcome.result.data["value"] == 2
    return took


async def _give_bare_page(_: web.Request) -> web.Response:
    return web.Response(text=_BARE_PAGE, content_type="text/html")


class BareSocket:
    """A page that evaluates what comes over a socket, and nothing else."""

    def __init__(self, runner: web.AppRunner) -> None:
        self._runner = runner
        self._socket: web.WebSocketResponse | None = None
        self._is_open = asyncio.Event()
        self._is_over = asyncio.Event()

    @classmethod
    async def open(cls, browser: Browser) -> "BareSocket":
        """Open it in a browser."""
        app = web.Application()
        runner = web.AppRunner(app)
        bare = cls(runner)
        app.router.add_get("/", _give_bare_page)
        app.router.add_get("/socket", bare._listen)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        page = await (await browser.new_context()).new_page()
        await page.goto(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        await bare._is_open.wait()
        return bare

    async def evaluate(self) -> float:
        """Milliseconds of one script, after a pause."""
        await asyncio.sleep(_PAUSE_S)
        return await self.take_ms(1)

    async def take_ms(self, at_once: int) -> float:
        """Milliseconds until so many scripts that are sent at once have been answered."""
        assert self._socket is not None
        began = time.perf_counter()
        for _ in range(at_once):
            await self._socket.send_str(json.dumps({"commandId": "c", "script": "1+1"}))
        answers = [await self._socket.receive_json() for _ in range(at_once)]
        took = (time.perf_counter() - began) * 1000
        assert all(answer["result"] == 2 for answer in answers)
        return took

    async def close(self) -> None:
        """End its server."""
        self._is_over.set()
        await self._runner.cleanup()

    async def _listen(self, request: web.Request) -> web.WebSocketResponse:
        self._socket = web.WebSocketResponse()
        await self._socket.prepare(request)
        self._is_open.set()
        await self._is_over.wait()
        return self._socket
