"""Pages of an attached browser: the user's own, and our tabs that continue when the connection is lost.

The user may let a session work in their own pages.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.targets import pages_by_target
from agentcore_chrome.tab.tab import Tab, TabOptions

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page


@dataclass(frozen=True, slots=True)
class OtherPage:
    """A page of an attached browser, as the browser describes it."""

    target_id: str
    url: str
    title: str
    page: "Page"

    def to_json(self) -> dict[str, Any]:
        """Return the page as JSON."""
        return {"target": self.target_id, "url": self.url, "title": self.title}


@dataclass(frozen=True, slots=True)
class LostPage:
    """A page that continues in a browser whose connection was lost.

    Args:
        tab_id: The id of its former tab, which it gets again.
        target_id: The browser's id of it; empty: it was not known yet, and the page cannot be found again.
        options: The options of the tab.
        is_ours: Whether the page is closed with the tab; see `Tab`.
        url: Its last address.
    """

    tab_id: str
    target_id: str
    options: TabOptions
    is_ours: bool
    url: str


async def list_other_pages(browser: "Browser", session: "CDPSession", ours: "set[Page]") -> list[OtherPage]:
    """Return the pages that are not tabs, with titles and addresses from the browser, because a page may hang.

    Args:
        session: The browser's CDP session.
    """
    targets = (await session.send("Target.getTargets"))["targetInfos"]
    known = {one["targetId"]: one for one in targets}
    pages = await pages_by_target(browser, set(known))
    found = [(known[target], page) for target, page in pages.items() if page not in ours]
    return [OtherPage(one["targetId"], one["url"], one["title"], page) for one, page in found]


def target_not_found(target_id: str) -> ToolError:
    """Return the error for a page that does not exist, was not listed, or has changed its address since."""
    return ToolError(
        "target_not_found",
        f"the attached browser has no page {target_id!r} as it was listed; browser_tabs list_attached shows them",
        target=target_id,
    )


def create_lost_page(tab: Tab) -> LostPage:
    """Return the page of a tab whose browser was lost, so that it can be found again."""
    options = TabOptions(tab.owner, tab.session_id, tab.dialogs.hold_s, tab.resource_id)
    return LostPage(tab.tab_id, tab.target_id or "", options, tab.is_ours, tab.page.url)
