"""The setting `stealth`: hiding from simple checks that a program drives the browser.

Values that the library would fix in contradiction to the machine (platform, languages) are left unchanged.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

SWITCH = "--disable-blink-features=AutomationControlled"
"""Makes the browser itself report that it is not automated (`navigator.webdriver`)."""

_AS_THEY_ARE = {
    "navigator_platform": False,
    "navigator_platform_override": None,
    "navigator_languages": False,
    "navigator_languages_override": None,
    "navigator_user_agent": False,
    "navigator_user_agent_data": False,
    "sec_ch_ua": False,
}


async def apply_stealth(context: "BrowserContext") -> None:
    """Run the library's scripts before those of each page that opens in a context."""
    library = await asyncio.to_thread(import_module, "playwright_stealth")
    await library.Stealth(**_AS_THEY_ARE).apply_stealth_async(context)


async def plain_user_agent(browser: "Browser") -> str:
    """Return the user agent of a browser with a window; a headless one contains `HeadlessChrome`."""
    session = await browser.new_browser_cdp_session()
    reply = await session.send("Browser.getVersion")
    await session.detach()
    return str(reply["userAgent"]).replace("HeadlessChrome", "Chrome")
