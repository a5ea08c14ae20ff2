"""Finding the page of a resource in a browser that was attached to: its title or address carries the resource's id."""

import asyncio
import re
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import is_driver_error

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Page

_ANSWER_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.1


async def find_target(browser: "Browser", session: "CDPSession", resource_id: str) -> "Page | None":
    """The page that a shell has marked for this resource; None: there is none.

    Pages are not asked, for one of them may hang: the browser knows their titles.

    Args:
        session: The browser's own.
    """
    # a part of a longer id is another resource's
    mark = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(resource_id)}(?![A-Za-z0-9_-])")
    targets = (await session.send("Target.getTargets"))["targetInfos"]
    marked = {one["targetId"] for one in targets if mark.search(one["url"]) or mark.search(one["title"])}
    for page in [page for context in browser.contexts for page in context.pages] if marked else ():
        if await target_id_of(page) in marked:
            return page
    return None


async def pages_by_target(browser: "Browser", wanted: set[str]) -> "dict[str, Page]":
    """The pages of a browser that have one of these ids."""
    pages = [page for context in browser.contexts for page in context.pages] if wanted else []
    ids = await asyncio.gather(*(_id_in_time(page) for page in pages))
    return {target: page for target, page in zip(ids, pages, strict=True) if target is not None and target in wanted}


async def _id_in_time(page: "Page") -> str | None:
    """The browser's id of a page; None: it hangs, or was closed meanwhile."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await target_id_of(page)
    except TimeoutError:
        return None


async def wait_for_target(browser: "Browser", session: "CDPSession", resource_id: str, limit_s: float) -> None:
    """Wait until a shell shows its page for this resource.

    Raises:
        ToolError: `view_not_shown`: it did not within the limit.
    """
    try:
        async with asyncio.timeout(limit_s):
            # the driver has a page some time after the browser tells of it, and says nothing of titles
            while await find_target(browser, session, resource_id) is None:  # noqa: ASYNC110 - so there is no event
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
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


async def target_id_of(page: "Page") -> str | None:
    """The browser's id of a page; None: it was closed meanwhile."""
    try:
        session = await page.context.new_cdp_session(page)
        reply = await session.send("Target.getTargetInfo")
        await session.detach()
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        return None
    return str(reply["targetInfo"]["targetId"])
