"""Attaching to a browser that runs already, over its remote debugging port."""

import asyncio
from typing import Any

from agentcore.api import ToolError
from agentcore_chrome.failures import headline
from agentcore_chrome.launching import Launcher, LaunchWish
from agentcore_chrome.process import BrowserProcess
from agentcore_chrome.refs import ENGINE, teach


async def attach(engine: Launcher, browser_id: str, wish: LaunchWish) -> BrowserProcess:
    """Attach to the browser of the setting `cdp_endpoint`; it goes on when we end.

    Raises:
        ToolError: `browser_launch_failed`: nothing answers there.
    """
    endpoint = str(engine.settings.cdp_endpoint)
    playwright = await engine.driver.get()
    options: dict[str, Any] = {"timeout": engine.settings.launch_timeout * 1000}
    try:
        async with asyncio.timeout(engine.settings.launch_timeout):
            browser = await playwright.chromium.connect_over_cdp(endpoint, **options)
            process = BrowserProcess(browser_id, engine, browser, session_id=wish.session_id)
            process.is_attached = True
            # the context that is there already is told only of engines that come after it
            process.selector_engine = f"{ENGINE}-{browser_id}"
            await teach(playwright, process.selector_engine)
            process.shares_context = True
            process.shared_context = browser.contexts[0] if browser.contexts else await browser.new_context()
            await process.listen()
    except Exception as exc:
        said = "it did not answer in time" if isinstance(exc, TimeoutError) else headline(exc)
        raise ToolError(
            "browser_launch_failed",
            f"cannot attach to {endpoint!r}: {said}; start the browser with --remote-debugging-port",
            retryable=True,
            cdp_endpoint=endpoint,
        ) from exc
    return process
