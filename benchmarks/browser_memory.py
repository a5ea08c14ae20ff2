"""Memory of a browser, of its contexts and of its tabs, against those of raw Playwright; fifty tabs in one browser."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.browser_hosts import driving_host, find_browser, serve_pages
from benchmarks.measure import Row

TABS = 50
CONTEXTS = 8
_MIB = 1024 * 1024
_SETTLE_SECONDS = 3.0


def run() -> list[Row]:
    """Measure, and give the rows; none without a browser."""
    program = find_browser()
    if program is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), program))


async def _measure(folder: Path, program: str) -> list[Row]:
    async with serve_pages() as address:
        floor = await _raw(program, f"{address}/")
        subject, browsers = await _ours(folder / "app", program, f"{address}/")
    names = ("a browser with one tab", f"each of {CONTEXTS} more contexts", f"each of {TABS - 1} more tabs")
    rows = [
        Row(f"browser: memory of {name}, against Playwright", ours, theirs, 1.05, "MiB")
        for name, ours, theirs in zip(names, subject, floor, strict=True)
    ]
    return [*rows, Row(f"browser: processes of browsers for {TABS} tabs of one session", browsers, 0, 1, "")]


async def _ours(folder: Path, program: str, url: str) -> tuple[list[float], int]:
    async with driving_host(folder, program) as call:

        async def memory() -> float:
            await asyncio.sleep(_SETTLE_SECONDS)
            [browser] = (await call("chrome_list")).data["browsers"]
            return float(browser["memoryBytes"]) / _MIB

        await call("browser_navigate", url=url)
        one = await memory()
        for number in range(CONTEXTS):
            await call("browser_navigate", f"context{number}", url=url)
        with_contexts = await memory()
        for _ in range(TABS - 1):
            page = (await call("browser_launch", new_page=True)).data["resourceId"]
            await call("browser_navigate", url=url, resourceId=page)
        with_tabs = await memory()
        browsers = (await call("chrome_list")).data["browsers"]
        of_session = {browser["browserId"] for browser in browsers for tab in browser["tabs"] if tab["title"]}
        return _each(one, with_contexts, with_tabs), len(of_session)


async def _raw(program: str, url: str) -> list[float]:
    from agentcore_chrome.browser.process import measure_memory
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program)
        line = await browser.new_browser_cdp_session()

        async def memory() -> float:
            await asyncio.sleep(_SETTLE_SECONDS)
            told = await line.send("SystemInfo.getProcessInfo")
            return measure_memory(process["id"] for process in told["processInfo"]) / _MIB

        async def open_page(context: Any) -> None:
            await (await context.new_page()).goto(url)

        viewport: Any = {"width": 1280, "height": 720}
        context = await browser.new_context(viewport=viewport)
        await open_page(context)
        one = await memory()
        for _ in range(CONTEXTS):
            await open_page(await browser.new_context(viewport=viewport))
        with_contexts = await memory()
        for _ in range(TABS - 1):
            await open_page(context)
        with_tabs = await memory()
        await browser.close()
        return _each(one, with_contexts, with_tabs)


def _each(one: float, with_contexts: float, with_tabs: float) -> list[float]:
    return [one, (with_contexts - one) / CONTEXTS, (with_tabs - with_contexts) / (TABS - 1)]
