"""Pages of a browser that was attached to: somebody else's, and ours that go on when the connection is lost.

In those of somebody else a person may let us work.
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
    """A page as the browser names it."""

    target_id: str
    url: str
    title: str
    page: "Page"

    def to_json(self) -> dict[str, Any]:
        """The page for programs."""
        return {"target": self.target_id, "url": self.url, "title": self.title}


@dataclass(frozen=True, slots=True)
class LostPage:
    """A page that goes on in a browser to which the connection was lost.

    Args:
        tab_id: The tab that it was, and will be again.
        target_id: The browser's id of it; empty: it was not known yet, and the page cannot be found again.
        options: How the tab was.
        is_ours: Whether it was opened here.
        url: Where it was.
    """

    tab_id: str
    target_id: str
    options: TabOptions
    is_ours: bool
    url: str


async def list_other_pages(browser: "Browser", session: "CDPSession", ours: "set[Page]") -> list[OtherPage]:
    """The pages that are not ours. A page that hangs is not asked: the browser knows titles and addresses.

    Args:
        session: The browser's own.
    """
    targets = (await session.send("Target.getTargets"))["targetInfos"]
    known = {one["targetId"]: one for one in targets}
    pages = await pages_by_target(browser, set(known))
    found = [(known[target], page) for target, page in pages.items() if page not in ours]
    return [OtherPage(one["targetId"], one["url"], one["title"], page) for one, page in found]


def target_not_found(target_id: str) -> ToolError:
    """There is no such page, it was not listed, or it has gone elsewhere since."""
    return ToolError(
        "target_not_found",
        f"the attached browser has no page {target_id!r} as it was listed; browser_tabs list_attached shows them",
        target=target_id,
    )


def create_lost_page(tab: Tab) -> LostPage:
    """The page of a tab whose browser was lost, to be found again."""
    options = TabOptions(tab.owner, tab.session_id, tab.dialogs.hold_s, tab.resource_id)
    return LostPage(tab.tab_id, tab.target_id or "", options, tab.is_ours, tab.page.url)
