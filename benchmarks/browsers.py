"""The browser tools in process, against the same operations in raw Playwright, in one run and on the same page."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, alternate_async

ROUNDS = 30
_CELLS = "".join(f"<tr><td>Name {i}</td><td>{i}</td><td><a href=/?{i}>open</a></td></tr>" for i in range(100))
_PAGE = f"""<!doctype html><title>Bench</title><button onclick="this.dataset.n = 1">Go</button><input name=name>
<table>{_CELLS}</table>"""

Operation = Callable[[], Awaitable[Any]]


def run() -> list[Row]:
    """Measure, and give the rows; none without a browser."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder) / "app", program))


async def _measure(folder: Path, program: str) -> list[Row]:
    from playwright.async_api import async_playwright

    from agentcore.api.context import Principal
    from agentcore.host import CallRequest
    from benchmarks.hosts import open_host

    (folder / "workspace").mkdir(parents=True)
    app = {
        "modules": ["browser"],
        "workspace": {"roots": ["workspace"]},
        "config": {"chrome": {"allow_private": True, "executable": program}},
    }
    async with _serve() as url, open_host(folder, app=app) as host, async_playwright() as playwright:

        async def call(tool: str, **arguments: Any) -> Any:
            outcome = await host.call(CallRequest(tool, arguments, Principal("cli")))
            assert outcome.ok, outcome.error
            return outcome.result

        raw = await playwright.chromium.launch(executable_path=program)
        page = await raw.new_page(viewport={"width": 1280, "height": 720})
        await page.goto(url)
        await call("browser_navigate", url=url)
        pairs: tuple[tuple[str, float, Operation, Operation], ...] = (
            ("go to a page", 1.1, lambda: call("browser_navigate", url=url), lambda: page.goto(url)),
            ("click", 1.1, lambda: call("browser_click", selector="button"), lambda: page.click("button")),
            (
                "fill",
                1.2,
                lambda: call("browser_fill_form", fields=[{"selector": "input", "value": "Ada"}]),
                lambda: page.fill("input", "Ada"),
            ),
            ("evaluate", 1.5, lambda: call("browser_evaluate", script="1 + 1"), lambda: page.evaluate("1 + 1")),
            ("screenshot", 1.05, lambda: call("browser_screenshot", inline=True), page.screenshot),
            ("snapshot of 100 rows", 1.1, lambda: call("browser_snapshot"), lambda: page.aria_snapshot(mode="ai")),
        )
        rows = []
        for name, target, subject, floor in pairs:
            medians = await alternate_async(subject, floor, ROUNDS)
            rows.append(Row(f"browser: {name}, against Playwright", *medians, target))
        await raw.close()
        return rows


@asynccontextmanager
async def _serve() -> AsyncIterator[str]:
    from aiohttp import web

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=_PAGE, content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()
