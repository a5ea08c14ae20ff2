"""The browser tools in process, against the same operations in raw Playwright, in one run and on the same page.

Actions are in `budget`.
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.browser_hosts import Call, driving_host, find_browser, serve_pages
from benchmarks.measure import Pairs, Row, paired_async

ROUNDS = 60
COLD_ROUNDS = 7

Operation = Callable[[], Awaitable[Any]]


def run() -> list[Row]:
    """Measure, and give the rows; none without a browser."""
    program = find_browser()
    if program is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder), program))


async def _measure(folder: Path, program: str) -> list[Row]:
    async with serve_pages() as address:
        async with driving_host(folder / "app", program) as call:
            rows = await _operations(call, program, f"{address}/")
            rows += await _sizes(call, address)
        rows.append(await _cold_start(folder, program, f"{address}/"))
        return rows


async def _operations(call: Call, program: str, url: str) -> list[Row]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        raw = await playwright.chromium.launch(executable_path=program)
        page = await raw.new_page(viewport={"width": 1280, "height": 720})
        await page.goto(url)
        await call("browser_navigate", url=url)
        pairs: tuple[tuple[str, float, Operation, Operation], ...] = (
            ("go to a page", 1.1, lambda: call("browser_navigate", url=url), lambda: page.goto(url)),
            ("screenshot", 1.05, lambda: call("browser_screenshot", inline=True), page.screenshot),
            ("snapshot of 100 rows", 1.1, lambda: call("browser_snapshot"), lambda: page.aria_snapshot(mode="ai")),
        )
        rows = []
        for name, target, subject, floor in pairs:
            measured = await paired_async(subject, floor, ROUNDS)
            rows.append(measured.row(f"browser: {name}, against Playwright", target))
        await raw.close()
        return rows


async def _sizes(call: Call, address: str) -> list[Row]:
    rows = []
    for path, what, target in (("/", "100 rows with links", 10.0), ("/many", "2,000 table rows", 20_000 / 1024)):
        await call("browser_navigate", url=f"{address}{path}")
        snapshot = await call("browser_snapshot")
        size = sum(len(block.text.encode()) for block in snapshot.blocks())
        rows.append(Row(f"browser: size of a snapshot of {what}", size / 1024, 0, round(target, 1), "KiB"))
    return rows


async def _cold_start(folder: Path, program: str, url: str) -> Row:
    """Nothing runs, not even the driver; until a page has loaded. Both have imported their library."""
    numbers = itertools.count()

    async def subject() -> float:
        async with driving_host(folder / f"cold{next(numbers)}", program) as call:
            began = time.perf_counter()
            await call("browser_navigate", url=url)
            return time.perf_counter() - began

    async def floor() -> float:
        from playwright.async_api import async_playwright

        began = time.perf_counter()
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=program)
            page = await browser.new_page(viewport={"width": 1280, "height": 720})
            await page.goto(url)
            took = time.perf_counter() - began
            await browser.close()
            return took

    pairs = Pairs([], [])
    for turn in range(COLD_ROUNDS + 1):
        order = ((subject, pairs.subject), (floor, pairs.floor))
        for function, times in order if turn % 2 else reversed(order):
            took = await function()
            if turn:
                times.append(took * 1000)
    return pairs.row("browser: nothing running to a page loaded, against Playwright", 1.05)
