"""Finding the page of a resource in a browser that was attached to: its title or address carries the resource's id."""

import asyncio
import re
from typing import TYPE_CHECKING

from agentcore_chrome.failures import is_driver_error

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

_TITLE_SECONDS = 2.0


async def find_target(browser: "Browser", resource_id: str) -> "Page | None":
    """The page that a shell has marked for this resource; None: there is none."""
    # a part of a longer id is another resource's
    mark = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(resource_id)}(?![A-Za-z0-9_-])")
    for page in [page for context in browser.contexts for page in context.pages]:
        if mark.search(page.url) or mark.search(await _title(page)):
            return page
    return None


async def _title(page: "Page") -> str:
    try:
        async with asyncio.timeout(_TITLE_SECONDS):
            return await page.title()
    except Exception as exc:
        if not is_driver_error(exc) and not isinstance(exc, TimeoutError):
            raise
        return ""
