"""The browser extension as people have it: a browser's real window, in which the panel stands beside a page.

The window is on a screen of its own, of which the picture is taken: neither the panel nor what the browser draws around
it is in a picture of a page.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from agentcore_chrome.browser.executable import find_browser
from agentcore_chrome.settings import EngineSettings
from PIL import ImageGrab
from playwright.async_api import BrowserContext, Page, Playwright
from shop import open_shop
from side_panel import LIMIT_S, SidePanel

from agentcore.testing.hosting import HostPlan
from agentcore.testing.serving import ServerClient, running_server

NAMES = ("extension-pair", "extension-chat", "extension-share")
_ROOT = Path(__file__).resolve().parent.parent.parent
_WIDTH, _HEIGHT = 1440, 900
_FLAGS = [
    *("--no-sandbox", "--test-type", "--no-first-run", "--disable-background-networking", "--disable-sync"),
    *("--window-position=0,0", f"--window-size={_WIDTH},{_HEIGHT}", "--lang=en-US"),
]
_OPEN = "chrome.windows.getCurrent().then(({id}) => chrome.sidePanel.open({windowId: id}))"
_SAYS = "Type iPhone 16 into the search box and press search"
_APPROVE = "one.matches('button.yes[aria-disabled=\"false\"]')"


async def take_beside_a_page(playwright: Playwright, target: Path) -> None:
    """Take the pictures, one after the other: each shows what follows the one before."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agentcore-")))
        screen = await stack.enter_async_context(_screen())
        shop = await stack.enter_async_context(open_shop())
        server = await stack.enter_async_context(running_server(_plan(shop), folder))
        context = await _open_window(playwright, screen, folder)
        stack.push_async_callback(context.close)
        page = await context.new_page()
        await page.goto(f"{shop}/shop/")
        panel = await _open_panel(context, page)
        approvals = await _ask_to_pair(panel, server, context)
        await _take(screen, target, "extension-pair")
        await approvals.locator("ac-approval-pairing button.yes").click()
        await page.bring_to_front()
        await _say(panel)
        await _take(screen, target, "extension-chat")
        await panel.click(_APPROVE)
        await _share(panel)
        await _take(screen, target, "extension-share")


def _plan(shop: str) -> HostPlan:
    model = {"provider": "openai", "base_url": f"{shop}/v1"}
    return HostPlan(["user_tabs"], {"models": {"example-model": model}})


@asynccontextmanager
async def _screen() -> AsyncIterator[str]:
    """The name of the display of an X server of our own."""
    size = f"{_WIDTH}x{_HEIGHT}x24"
    if shutil.which("Xvfb") is None:
        raise RuntimeError("the pictures of the extension need Xvfb: apt-get install xvfb")
    server = await asyncio.create_subprocess_exec(
        *("Xvfb", "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert server.stdout is not None  # noqa: S101 - asked for above
    try:
        async with asyncio.timeout(LIMIT_S):
            number = (await server.stdout.readline()).decode().strip()
        yield f":{number}"
    finally:
        server.terminate()
        await server.wait()


async def _open_window(playwright: Playwright, screen: str, folder: Path) -> BrowserContext:
    """A browser with the extension, which may use the shop: no script can click the browser's own question."""
    building = await asyncio.create_subprocess_exec(sys.executable, "-m", "scripts.extension", cwd=_ROOT)
    if await building.wait() != 0:
        raise RuntimeError("the extension cannot be built")
    extension = folder / "extension"
    await asyncio.to_thread(shutil.copytree, _ROOT / "build" / "extension", extension)
    manifest = json.loads((extension / "manifest.json").read_text("utf-8"))
    allowed = {**manifest, "host_permissions": ["http://127.0.0.1/*"]}
    (extension / "manifest.json").write_text(json.dumps(allowed), "utf-8")
    return await playwright.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=find_browser(EngineSettings.model_validate({})).path,
        headless=False,
        no_viewport=True,
        env={**os.environ, "DISPLAY": screen},
        args=[*_FLAGS, f"--disable-extensions-except={extension}", f"--load-extension={extension}"],
        ignore_default_args=["--disable-extensions", "--enable-automation"],
    )


async def _open_panel(context: BrowserContext, page: Page) -> SidePanel:
    """Beside the tab of a page; the browser opens it where it takes a script for a click."""
    worker = context.service_workers[0] if context.service_workers else await context.wait_for_event("serviceworker")
    own, *others = [each for each in context.pages if each is not page]
    for other in others:
        await other.close()
    await own.goto(worker.url.replace("worker/worker.js", "_locales/en/messages.json"))
    session = await context.new_cdp_session(own)
    await session.send("Runtime.evaluate", {"expression": _OPEN, "awaitPromise": True, "userGesture": True})
    panel = await SidePanel.attach(page)
    await own.close()
    await page.bring_to_front()
    return panel


async def _ask_to_pair(panel: SidePanel, server: ServerClient, context: BrowserContext) -> Page:
    """Up to the question in the approval view; gives its tab."""
    codes = server.running.host.store.approval_sessions
    approvals = await context.new_page()
    await approvals.goto(f"{server.approval_address}/#code={codes.create_code()}")
    await approvals.get_by_role("button", name="Pair a client").click()
    code = await approvals.locator("ac-approval-clients .code code").inner_text()
    await panel.type("one.id === 'address'", str(server.make_url("/")))
    await panel.type("one.id === 'code'", code)
    await panel.click("one.matches('button.primary')")
    await approvals.locator("ac-approval-pairing button.yes").wait_for()
    await approvals.mouse.move(0, 0)
    return approvals


async def _say(panel: SidePanel) -> None:
    """Up to the call that waits for a person."""
    await panel.type("one.matches('textarea')", _SAYS)
    await panel.press_enter()
    await panel.wait_for(_APPROVE)


async def _share(panel: SidePanel) -> None:
    """Share the tab with the chat, once it has done what it was asked to."""
    await panel.wait_for("one.textContent.startsWith('Done: the page')")
    await panel.click("one.textContent.trim() === 'Share' && one.matches('button')")
    await panel.click("one.matches('[role=menuitem]') && one.checkVisibility()")
    await panel.wait_for("one.textContent.trim() === 'This tab is shared with this chat.'")


async def _take(screen: str, target: Path, name: str) -> None:
    await asyncio.sleep(1)  # what moves has come to rest
    picture = await asyncio.to_thread(ImageGrab.grab, xdisplay=screen)
    picture.save(target / f"{name}.png")
