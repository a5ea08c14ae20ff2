"""Pages of a browser that was attached to which are somebody else's, and which a person may let us work in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.marked_targets import pages_by_target

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


async def pages_besides(browser: "Browser", session: "CDPSession", ours: "set[Page]") -> list[OtherPage]:
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
