"""Pages of a browser that was attached to which are somebody else's, and which a person may let us work in."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcore.api import ToolError
from agentcore_chrome.browser.marked_targets import target_id_of

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page

_ANSWER_SECONDS = 2.0


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
    pages = [page for context in browser.contexts for page in context.pages if page not in ours]
    ids = await asyncio.gather(*(_id_in_time(page) for page in pages))
    found = [(known[target], page) for target, page in zip(ids, pages, strict=True) if target in known]
    return [OtherPage(one["targetId"], one["url"], one["title"], page) for one, page in found]


async def _id_in_time(page: "Page") -> str | None:
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await target_id_of(page)
    except TimeoutError:
        return None


def target_not_found(target_id: str) -> ToolError:
    """There is no such page, it was not listed, or it has gone elsewhere since."""
    return ToolError(
        "target_not_found",
        f"the attached browser has no page {target_id!r} as it was listed; browser_tabs list_attached shows them",
        target=target_id,
    )
