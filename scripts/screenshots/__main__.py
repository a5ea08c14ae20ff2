"""Takes a picture of every view of the page: light, dark, on a phone, in Chinese; empty, failing, long.

The browser extension is taken in a real window, beside a page: NAME is then `extension`. MCP both ways is `mcp`,
another machine as a host `hosts`.

Run: python scripts/screenshots [NAME …]; the pictures go to docs/images.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcore_chrome.browser.executable import find_browser
from agentcore_chrome.settings import EngineSettings
from beside_a_page import take_beside_a_page
from both_ways import serving_both_ways, take_both_ways
from other_machine import take_other_machine
from playwright.async_api import Browser, Page, async_playwright
from provider import open_provider
from scenes import SCENES, Scene, Server

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server

_HERE = Path(__file__).resolve().parent
_TARGET = _HERE.parent.parent / "docs" / "images"
_MODULES = ["fs_tools", "weather", "broken_clock", "almanac", "ghost_tools"]
_HOSTS = {
    "forecasts": {"kind": "process", "modules": ["weather", "almanac"], "memory_mb": 512},
    "clocks": {"kind": "process", "modules": ["broken_clock"], "python": "/opt/clocks/bin/python"},
}
_ADDRESS = "OPENAI_BASE_URL"  # of the provider of which no model was chosen
_FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking", "--hide-scrollbars"]


@dataclass(frozen=True)
class Look:
    """How a scene is looked at.

    Args:
        name: Ends the picture's name.
        options: Of the browser context.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)


_DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US"}
_PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "locale": "en-US"}
LOOKS = (
    Look("light", {**_DESK, "color_scheme": "light"}),
    Look("dark", {**_DESK, "color_scheme": "dark"}),
    Look("phone", {**_PHONE, "color_scheme": "light"}),
    Look("zh", {**_DESK, "color_scheme": "light", "locale": "zh-CN"}),
)


@asynccontextmanager
async def _server(kind: Server, provider: str) -> AsyncIterator[ServerClient]:
    modules = [] if kind == "empty" else _MODULES
    os.environ.pop(_ADDRESS, None)
    if kind == "no_model":
        os.environ[_ADDRESS] = provider
    with tempfile.TemporaryDirectory(prefix="agentcore-") as name:
        folder = Path(name)
        shutil.copytree(_HERE / "modules", folder / "modules", ignore=shutil.ignore_patterns("__pycache__"))
        workspace = folder / "workspace"
        workspace.mkdir()
        (workspace / "notes.md").write_text("# Notes\n\n- buy bread\n- call the harbour\n", encoding="utf-8")
        (workspace / "hello.py").write_text('def greet(name):\n    return f"hello, {name}"\n', encoding="utf-8")
        (workspace / "TODO.md").write_text("# To do\n\n- water the plants\n", encoding="utf-8")
        models = {"example-model": {"provider": "openai", "base_url": provider}} if kind == "usual" else {}
        config = {"modules": modules, "models": models, "approvals": {"mode": "ask_writes"}}
        if kind == "hosts":
            config["hosts"] = _HOSTS
        plan = HostPlan(config=config, roots=[workspace], is_failure_expected=True)
        async with running_server(plan, folder) as server:
            yield server


async def _logged_in(browser: Browser, server: ServerClient, look: Look) -> Page:
    context = await browser.new_context(reduced_motion="reduce", **look.options)
    page = await context.new_page()
    store = server.running.host.store
    # by way of the approval view, as `serve --open` does it: the tray can approve
    codes = f"#code={store.approval_sessions.create_code()}&page={store.page_sessions.create_code()}"
    await page.goto(f"{server.approval_address}/{codes}")
    await page.get_by_role("heading", level=1).wait_for()
    return page


async def _take(page: Page, server: ServerClient, scene: Scene, look: Look) -> None:
    await page.goto("about:blank")  # nothing of the scene before is left
    await page.goto(f"{server.make_url('/')}{scene.path}")
    if scene.prepare is not None:
        await scene.prepare(page)
    await page.locator("[aria-busy=true]").first.wait_for(state="detached")
    await page.evaluate("new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 150))")
    await page.screenshot(path=_TARGET / f"{scene.name}-{look.name}.png")


async def _take_all(browser: Browser, scenes: Sequence[Scene]) -> None:
    kinds: tuple[Server, ...] = ("usual", "no_model", "empty")
    for kind in kinds:
        chosen = [scene for scene in scenes if scene.server == kind]
        if not chosen:
            continue
        for look in LOOKS:
            # a server for each look: scenes leave calls behind, and one of them stops everything
            async with open_provider() as provider, _server(kind, provider) as server:
                page = await _logged_in(browser, server, look)
                for scene in chosen:
                    if look.name != "zh" or scene.is_in_chinese:
                        await _take(page, server, scene, look)
                await page.context.close()


async def _take_both_ways(browser: Browser) -> None:
    for look in LOOKS[:2]:
        async with serving_both_ways() as server:
            page = await _logged_in(browser, server, look)
            await take_both_ways(page, server, _TARGET, look.name)
            await page.context.close()


async def _take_other_machine(browser: Browser) -> None:
    for look in LOOKS:
        async with _server("hosts", "") as server:
            page = await _logged_in(browser, server, look)
            await take_other_machine(page, server, _TARGET, look.name)
            await page.context.close()


async def main(names: Sequence[str]) -> None:
    """Take the pictures of some scenes, or of all."""
    _TARGET.mkdir(parents=True, exist_ok=True)
    scenes = [scene for scene in SCENES if not names or scene.name in names]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_browser(EngineSettings.model_validate({})).path, args=_FLAGS
        )
        await _take_all(browser, scenes)
        if not names or "hosts" in names:
            await _take_other_machine(browser)
        if not names or "mcp" in names:
            await _take_both_ways(browser)
        await browser.close()
        if not names or "extension" in names:
            await take_beside_a_page(playwright, _TARGET)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
