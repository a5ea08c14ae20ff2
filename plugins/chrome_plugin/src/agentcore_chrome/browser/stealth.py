"""Hiding from simple checks that a program drives a browser: the setting `stealth`.

What the library would set to fixed values that contradict the machine (platform, languages) is left as it is.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

SWITCH = "--disable-blink-features=AutomationControlled"
"""With it a browser itself says that nobody automates it (`navigator.webdriver`)."""

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
    """Have the library's scripts run before those of each page that opens in a context."""
    library = await asyncio.to_thread(import_module, "playwright_stealth")
    await library.Stealth(**_AS_THEY_ARE).apply_stealth_async(context)


async def plain_user_agent(browser: "Browser") -> str:
    """How a browser names itself with a window; one without says `HeadlessChrome`."""
    session = await browser.new_browser_cdp_session()
    reply = await session.send("Browser.getVersion")
    await session.detach()
    return str(reply["userAgent"]).replace("HeadlessChrome", "Chrome")
