"""Finding elements by selector or snapshot reference, and acting on them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from agentcore.api import ToolError
from agentcore_chrome.failures import (
    bad_selector,
    element_not_actionable,
    element_not_found,
    headline,
    is_bad_selector,
    is_driver_error,
    is_driver_timeout,
    why_not_actionable,
)
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

T = TypeVar("T")

_REF = re.compile(r"(?:aria-ref=|ref=|@)?((?:f\d+)?e\d+)")


_HAS_CONTENT = "() => !!document.body?.firstElementChild"


@dataclass(frozen=True, slots=True)
class Target:
    """An element as a caller names it: a selector, or a reference of a snapshot (`e12`)."""

    text: str

    @property
    def ref(self) -> str | None:
        """The reference, if it is one: no element of HTML is called like that."""
        found = _REF.fullmatch(self.text.strip())
        return found.group(1) if found else None


async def locate(tab: Tab, target: Target) -> "Locator":
    """The element that is named; of several that match a selector, the first.

    Raises:
        ToolError: `stale_ref`; `element_not_found`: the page is empty, for nobody has gone anywhere with it yet.
    """
    if target.ref is None:
        await _raise_if_blank(tab, target.text)
        return tab.page.locator(target.text).first
    return await tab.refs.locate(tab.page, target.ref)


async def on_element(
    tab: Tab, target: Target, timeout_ms: int, work: Callable[["Locator"], Awaitable[T]], *, acts: bool = True
) -> T:
    """Do something with an element, once it is there and ready for it.

    Args:
        acts: Whether `work` needs the element to be usable, not just there.
    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `invalid_arguments`.
    """

    async def run() -> T:
        locator = await locate(tab, target)
        return await work(locator)

    try:
        return await tab.act(run, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not isinstance(exc, TimeoutError):
            raise
        raise await _explained(tab, target, timeout_ms, exc, acts=acts) from exc


async def _raise_if_blank(tab: Tab, selector: str) -> None:
    # a popup is blank until its address answers, but to wait for something in any other blank page is in vain
    if tab.page.url != "about:blank" or tab.opener is not None or await tab.page.evaluate(_HAS_CONTENT):
        return
    message = f"the page is empty (about:blank), so nothing matches {selector!r}; go to an address first"
    raise ToolError("element_not_found", message, selector=selector, url=tab.page.url)


async def _explained(tab: Tab, target: Target, timeout_ms: int, error: Exception, *, acts: bool) -> ToolError:
    named = {"tabId": tab.tab_id, "url": tab.page.url}
    if is_bad_selector(error):
        return bad_selector(target.text, error)
    if not is_driver_timeout(error):
        return element_not_actionable(target.text, headline(error), **named)
    reason = why_not_actionable(error)
    if reason is None and "locator resolved to" not in str(error) and not await _is_there_after_all(tab, target):
        return element_not_found(target.text, timeout_ms, **named)
    if not acts:
        return element_not_actionable(target.text, f"was not ready within {timeout_ms} ms", **named)
    return element_not_actionable(target.text, reason or f"it was not ready within {timeout_ms} ms", **named)


async def _is_there_after_all(tab: Tab, target: Target) -> bool:
    """Whether a slow machine used up the limit before the driver had looked even once."""

    async def look() -> bool:
        return await (await locate(tab, target)).count() > 0

    return await tab.look(look, default=False)
