"""Targets, as CDP calls pages: finding that of a resource or tab, and following titles and addresses.

In an attached browser, the title or the address of a resource's page may contain the resource's id.
"""

import asyncio
import re
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from agentcore.api import ToolError
from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page

LOOK_AGAIN_SECONDS = 0.15
"""Delay before a tab's title is requested again."""

_ANSWER_SECONDS = 2.0
_MARK_SECONDS = 0.1


class TargetBrowser(Protocol):
    """The part of a browser that its targets use."""

    @property
    def is_open(self) -> bool: ...

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> None: ...
    def update_tab_info(self, tab: Tab, title: str, url: str) -> None: ...


class TabTargets:
    """The tabs of one browser by target id, with the titles and addresses that the browser reports.

    Args:
        browser: Receives the titles and addresses.
    """

    def __init__(self, browser: TargetBrowser) -> None:
        self._browser = browser
        self._session: CDPSession | None = None
        self._by_target: dict[str, Tab] = {}
        self._looking: set[str] = set()

    def subscribe_to_events(self, session: "CDPSession") -> None:
        """Subscribe to titles and addresses.

        Args:
            session: The browser's CDP session.
        """
        self._session = session
        session.on("Target.targetInfoChanged", self._on_target)

    def find_tab(self, target_id: str) -> Tab | None:
        """Return the tab of a target."""
        return self._by_target.get(target_id)

    async def register_tab(self, tab: Tab) -> None:
        """Request a tab's target id, title and address, and register the tab."""
        reply = await (await tab.get_session()).send("Target.getTargetInfo")
        target = reply["targetInfo"]
        tab.target_id = target["targetId"]
        self._by_target[tab.target_id] = tab
        self._on_target(reply)

    def schedule_title_refresh(self, tab: Tab, after_s: float = LOOK_AGAIN_SECONDS) -> None:
        """Request a tab's title soon, because a browser does not report every change."""
        if tab.target_id is not None and tab.tab_id not in self._looking:
            self._looking.add(tab.tab_id)
            asyncio.get_running_loop().call_later(after_s, self._start_title_refresh, tab)

    def _start_title_refresh(self, tab: Tab) -> None:
        self._looking.discard(tab.tab_id)
        if self._browser.is_open and not tab.gone.done():
            self._browser.run_in_background(self._refresh_title(tab))

    async def _refresh_title(self, tab: Tab) -> None:
        assert self._session is not None  # noqa: S101 - listen() was called
        self._on_target(await self._session.send("Target.getTargetInfo", {"targetId": tab.target_id}))

    def _on_target(self, reply: dict[str, Any]) -> None:
        target = reply["targetInfo"]
        tab = self._by_target.get(target["targetId"])
        if tab is None or tab.gone.done():
            self._by_target.pop(target["targetId"], None)
            return
        # Until a page has a title, the browser reports its address without the scheme as the title.
        title = "" if target["url"].endswith(target["title"]) else target["title"]
        self._browser.update_tab_info(tab, title, target["url"])


async def find_target(browser: "Browser", session: "CDPSession", resource_id: str) -> "Page | None":
    """Return the page that the attached program has marked for this resource; None: there is none.

    The browser is asked for the titles, because a page may hang.

    Args:
        session: The browser's CDP session.
    """
    # Match whole ids only: as a part of a longer one, it is another resource's.
    mark = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(resource_id)}(?![A-Za-z0-9_-])")
    targets = (await session.send("Target.getTargets"))["targetInfos"]
    marked = {one["targetId"] for one in targets if mark.search(one["url"]) or mark.search(one["title"])}
    for page in [page for context in browser.contexts for page in context.pages] if marked else ():
        if await read_target_id(page) in marked:
            return page
    return None


async def pages_by_target(browser: "Browser", wanted: set[str]) -> "dict[str, Page]":
    """Return the pages of a browser that have one of these target ids, by id."""
    pages = [page for context in browser.contexts for page in context.pages] if wanted else []
    ids = await asyncio.gather(*(_id_in_time(page) for page in pages))
    return {target: page for target, page in zip(ids, pages, strict=True) if target is not None and target in wanted}


async def _id_in_time(page: "Page") -> str | None:
    """Return the target id of a page; None: it hangs, or was closed meanwhile."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await read_target_id(page)
    except TimeoutError:
        return None


async def wait_for_target(browser: "Browser", session: "CDPSession", resource_id: str, limit_s: float) -> None:
    """Wait until the attached program shows its page for this resource.

    Raises:
        ToolError: `view_not_shown`: it did not within the limit.
    """
    try:
        async with asyncio.timeout(limit_s):
            # The driver learns of a page some time after the browser reports it, and does not report titles.
            while await find_target(browser, session, resource_id) is None:  # noqa: ASYNC110 - so there is no event
                await asyncio.sleep(_MARK_SECONDS)
    except TimeoutError as exc:
        raise ToolError(
            "view_not_shown",
            f"the program at `cdp_endpoint` shows no page with {resource_id!r} in its address or title: it was given "
            f"{limit_s:g} s (`view_timeout`). It opens one such as about:blank#{resource_id} when it hears of the "
            "resource; whoever runs that program may see why it did not",
            retryable=True,
            resourceId=resource_id,
            view_timeout=limit_s,
        ) from exc


async def read_target_id(page: "Page") -> str | None:
    """Return the target id of a page; None: it was closed meanwhile."""
    try:
        session = await page.context.new_cdp_session(page)
        reply = await session.send("Target.getTargetInfo")
        await session.detach()
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        return None
    return str(reply["targetInfo"]["targetId"])
