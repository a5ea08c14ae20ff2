"""Attaching to a browser that runs already, over its remote debugging port.

It is the user's: nothing of theirs is closed, resized, answered or redirected, and it keeps running when we exit.
"""

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.launching import Launcher, LaunchOptions
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.browser.reachability import debugger_address
from agentcore_chrome.endpoint import Endpoint
from agentcore_chrome.failures import extract_headline
from agentcore_chrome.tab.refs import ENGINE, register_selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright


_ENGINES = itertools.count(1)
_REASON_CHARS = 300


async def attach_to_browser(
    engine: Launcher, endpoint: Endpoint, browser_id: str, options: LaunchOptions
) -> BrowserProcess:
    """Attach to the browser in the setting `cdp_endpoint`.

    Raises:
        ToolError: `browser_launch_failed`: nothing answers there.
    """
    playwright = await engine.driver.get_playwright()
    limit_s = engine.settings.launch_timeout
    try:
        async with asyncio.timeout(limit_s):
            # Without the driver's defaults, which take over the user's downloads and focus.
            browser = await playwright.chromium.connect_over_cdp(
                await debugger_address(endpoint), timeout=limit_s * 1000, headers=endpoint.headers, no_defaults=True
            )
            try:
                return await _create_process(engine, playwright, browser, browser_id, options)
            except BaseException:
                await browser.close()
                raise
    except Exception as exc:
        said = endpoint.mask_secrets(extract_headline(exc))[:_REASON_CHARS]
        reason = "it did not answer in time" if isinstance(exc, TimeoutError) else said
        raise ToolError(
            "browser_launch_failed",
            f"cannot attach to {endpoint}: {reason}; start the browser with --remote-debugging-port",
            retryable=True,
            endpoint=str(endpoint),
        ) from exc


async def _create_process(
    engine: Launcher, playwright: "Playwright", browser: "Browser", browser_id: str, options: LaunchOptions
) -> BrowserProcess:
    process = BrowserProcess(browser_id, engine, browser, session_id=options.session_id)
    process.place = "attached"
    process.views_within_s = engine.settings.view_timeout
    context = browser.contexts[0] if browser.contexts else await browser.new_context()
    context.on("dialog", _ignore_dialog)
    process.share_context(context)
    # The existing context only learns of selector engines that are registered after it was found.
    process.selector_engine = f"{ENGINE}-{browser_id}-{next(_ENGINES)}"
    await register_selector_engine(playwright, process.selector_engine)
    await process.subscribe_to_events()
    return process


def _ignore_dialog(_: Any) -> None:
    """Do nothing: the driver dismisses dialogs without a listener, including those of the user's own pages."""
