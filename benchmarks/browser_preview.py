"""The live preview as a viewer gets it from `agentcore serve`, against the raw screencast of the same page."""

import asyncio
import statistics
import tempfile
import time
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.browser_hosts import find_browser, serve_pages, settings
from benchmarks.measure import Row
from benchmarks.servers import Running, agentcore

ROUNDS = 6
VIEWERS = 3
_WINDOW_SECONDS = 3.0
_PICTURE: dict[str, Any] = {"format": "jpeg", "quality": 70, "maxWidth": 1920, "maxHeight": 1200}


def run() -> list[Row]:
    """Measure, and give the rows; none without a browser."""
    program = find_browser()
    if program is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        app = {"modules": ["browser"], "workspace": {"roots": ["workspace"]}, "config": settings(program)}
        with agentcore(Path(folder) / "app", {}, app) as server:
            return asyncio.run(_measure(server, program))


async def _measure(server: Running, program: str) -> list[Row]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        serve_pages() as address,
        aiohttp.ClientSession(f"http://127.0.0.1:{server.port}", headers=headers) as client,
        _raw_screencast(program, f"{address}/moving") as raw,
    ):
        rounds = []
        for _ in range(ROUNDS):
            theirs = await raw()
            page = await _go(client, f"{address}/moving")
            rounds.append((theirs, *await _view(client, page)))
            await _go(client, "about:blank")  # nothing moves while the other side is measured
    floor = statistics.median(frames for frames, _, _ in rounds)
    return [
        Row("browser: first frame of a preview", statistics.median(first for _, _, first in rounds) * 1000, 0, 150),
        Row(
            f"browser: frames a second for the slowest of {VIEWERS} viewers, against the raw screencast",
            statistics.median(min(frames) for _, frames, _ in rounds),
            floor,
            0.9,
            "/s",
            at_least=True,
            paired=statistics.median(min(frames) / theirs for theirs, frames, _ in rounds),
        ),
    ]


@asynccontextmanager
async def _raw_screencast(program: str, url: str) -> AsyncIterator[Any]:
    """Gives a function that counts the frames a second of a page of its own."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program)
        page = await browser.new_page(viewport={"width": 1280, "height": 720})
        await page.goto("about:blank")
        session = await page.context.new_cdp_session(page)

        async def count() -> float:
            await page.goto(url)
            frames: list[bytes] = []
            acknowledging: set[asyncio.Future[Any]] = set()

            def on_frame(told: dict[str, Any]) -> None:
                frames.append(b64decode(told["data"]))
                acknowledging.add(
                    asyncio.ensure_future(session.send("Page.screencastFrameAck", {"sessionId": told["sessionId"]}))
                )

            session.on("Page.screencastFrame", on_frame)
            await session.send("Page.startScreencast", _PICTURE)
            await asyncio.sleep(_WINDOW_SECONDS)
            taken = len(frames)
            session.remove_listener("Page.screencastFrame", on_frame)
            await session.send("Page.stopScreencast")
            await asyncio.gather(*acknowledging)
            await page.goto("about:blank")
            return taken / _WINDOW_SECONDS

        yield count
        await browser.close()


async def _go(client: aiohttp.ClientSession, url: str) -> str:
    """Have the session's page go somewhere; gives its id."""
    call = {"arguments": {"url": url}, "session_id": "bench"}
    async with client.post("/api/tools/browser_navigate/call", json=call) as response:
        return str((await response.json())["data"]["resourceId"])


async def _view(client: aiohttp.ClientSession, page: str) -> tuple[list[float], float]:
    """Look on with several viewers: frames a second of each, and seconds to the first one's first frame."""
    async with AsyncExitStack() as stack:
        began = time.perf_counter()
        path = f"/api/modules/browser/preview/{page}"
        one = await stack.enter_async_context(client.ws_connect(path))
        await _next_frame(one)
        first = time.perf_counter() - began
        others = [await stack.enter_async_context(client.ws_connect(path)) for _ in range(VIEWERS - 1)]
        sockets = [one, *others]
        counts = await asyncio.gather(*(_count(socket) for socket in sockets))
    return [count / _WINDOW_SECONDS for count in counts], first


async def _count(socket: aiohttp.ClientWebSocketResponse) -> int:
    frames = 0
    end = time.perf_counter() + _WINDOW_SECONDS
    while time.perf_counter() < end:
        await _next_frame(socket)
        frames += 1
    return frames


async def _next_frame(socket: aiohttp.ClientWebSocketResponse) -> None:
    while (await socket.receive()).type is not aiohttp.WSMsgType.BINARY:
        pass
    await socket.send_str('{"type": "shown"}')
