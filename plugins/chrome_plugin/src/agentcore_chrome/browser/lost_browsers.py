"""Attached browsers whose connection was lost: they are reattached, with the pages that they had."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import structlog

from agentcore.api import Background, ToolError
from agentcore_chrome.browser.attached_pages import LostPage
from agentcore_chrome.browser.process import BrowserProcess
from agentcore_chrome.failures import instance_not_found
from agentcore_chrome.lost_failures import ignore_failure

log = structlog.get_logger(__name__)

_PAUSES_S = (0.1, 0.3, 1, 2, 4, 8, 15, *(30,) * 20)
"""Pauses between automatic attempts; after the last one, only calls try again."""


@dataclass(slots=True)
class LostBrowser:
    """A browser that may still be running, and its pages."""

    browser_id: str
    session_id: str
    version: str
    started_at_ms: int
    pages: list[LostPage]
    attaching: asyncio.Task[BrowserProcess] | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the browser as JSON."""
        return {
            "browserId": self.browser_id,
            "sessionId": self.session_id,
            "isShared": not self.session_id,
            "isAttached": True,
            "isRemote": False,
            "state": "lost",
            "headless": False,
            "version": self.version,
            "pid": None,
            "memoryBytes": None,
            "startedAt": self.started_at_ms,
            "tabs": [],
        }


class LostBrowsers:
    """The lost browsers of one engine, reattached automatically or by the first call that needs one.

    Args:
        attach: Reattaches a browser.
        page_gone: Called with each page that no longer exists.
    """

    def __init__(
        self, attach: Callable[[LostBrowser], Awaitable[BrowserProcess]], page_gone: Callable[[LostPage], None]
    ) -> None:
        self._attach = attach
        self._page_gone = page_gone
        self._lost: dict[str, LostBrowser] = {}
        self._background = Background("lost_browsers")

    def __contains__(self, browser_id: object) -> bool:
        return browser_id in self._lost

    def all(self) -> list[LostBrowser]:
        """Return all browsers that are lost now."""
        return list(self._lost.values())

    def get(self, browser_id: str) -> LostBrowser | None:
        """Return a lost browser by its id."""
        return self._lost.get(browser_id)

    def find_page(self, tab_id: str) -> tuple[LostBrowser, LostPage] | None:
        """Return the lost browser and page of a tab."""
        pages = ((lost, page) for lost in self._lost.values() for page in lost.pages)
        return next((found for found in pages if found[1].tab_id == tab_id), None)

    def add(self, process: BrowserProcess) -> None:
        """Add a browser whose connection was lost, and start to reattach it."""
        before = self._lost.get(process.browser_id)  # lost again while its pages were being restored
        back = {page.tab_id for page in process.lost_pages}
        pages = [*process.lost_pages, *(page for page in (before.pages if before else ()) if page.tab_id not in back)]
        lost = LostBrowser(process.browser_id, process.session_id, process.version, process.started_at_ms, pages)
        self._lost[process.browser_id] = lost
        self._background.start(self._retry_until_attached(lost))

    async def reattach_browser(self, browser_id: str) -> BrowserProcess:
        """Reattach a browser; concurrent callers share one attempt.

        Raises:
            ToolError: `browser_launch_failed`: it does not answer; `instance_not_found`: it was given up meanwhile.
        """
        lost = self._lost.get(browser_id)
        if lost is None:
            raise instance_not_found(browser_id, has_crashed=True)
        if lost.attaching is None or lost.attaching.done():
            lost.attaching = self._background.start(self._reattach_browser(lost))
            lost.attaching.add_done_callback(ignore_failure)
        return await asyncio.shield(lost.attaching)

    def remove(self, browser_id: str) -> None:
        """Give up a browser and its pages."""
        lost = self._lost.pop(browser_id, None)
        for page in lost.pages if lost is not None else ():
            self._page_gone(page)

    async def remove_all(self) -> None:
        """Give up all browsers; may be called twice."""
        for browser_id in list(self._lost):
            self.remove(browser_id)
        await self._background.stop()

    async def _retry_until_attached(self, lost: LostBrowser) -> None:
        for pause_s in _PAUSES_S:
            await asyncio.sleep(pause_s)
            if self._lost.get(lost.browser_id) is not lost:
                return
            try:
                await self.reattach_browser(lost.browser_id)
            except ToolError as exc:
                log.debug("browser_still_lost", browser_id=lost.browser_id, reason=exc.type)
            else:
                return

    async def _reattach_browser(self, lost: LostBrowser) -> BrowserProcess:
        process = await self._attach(lost)
        if self._lost.get(lost.browser_id) is not lost:  # it was given up during the attempt
            await process.close()
            raise instance_not_found(lost.browser_id)
        gone = await process.restore_lost_pages(lost.pages)
        if self._lost.get(lost.browser_id) is lost:
            del self._lost[lost.browser_id]
            for page in gone:
                self._page_gone(page)
        return process
