"""Scrolling a page or an area of it: by pixels, to an end, to an element or a text.

A virtual grid only has the visible rows in its page. Other rows are reached by the row numbers (`aria-rowindex` and the
like), else by scrolling through the area until they appear.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import (
    element_not_actionable,
    element_not_found,
    is_bad_selector,
    is_driver_error,
    is_driver_timeout,
)
from agentcore_chrome.tab.elements import Target, locate_element

if TYPE_CHECKING:
    from agentcore_chrome.tab.tab import Tab

Direction = Literal["up", "down", "left", "right", "to_top", "to_bottom"]

_RESERVED_MS = 1500
"""Part of a search's limit that is reserved for reporting how far it got."""

_THERE_MS = 5000
"""How long to wait for an area."""


@dataclass(frozen=True, slots=True)
class Scroll:
    """A request to scroll.

    Attributes:
        direction: By `amount` pixels, or to an end; used if neither `to` nor `text` is given.
        area: An element of the area, as a selector or reference; None: the page, or its largest area if it cannot
            scroll.
        to: The element to bring into view.
        text: The text to bring into view.
    """

    direction: Direction = "down"
    amount: int = 500
    area: str | None = None
    to: str | None = None
    text: str | None = None

    @property
    def is_sideways(self) -> bool:
        """True if it scrolls horizontally."""
        return self.direction in {"left", "right"}


async def scroll_page(tab: "Tab", wanted: Scroll, timeout_ms: int) -> dict[str, Any]:
    """Scroll, and return the state `{area, scrollTop, scrollHeight, clientHeight, first, last}` with the visible lines.

    Raises:
        ToolError: `element_not_found`: missing, or not reached yet; `element_not_actionable`: hidden; `stale_ref`.
    """
    if wanted.to is not None and (await _bring_into_view(tab, wanted.to, timeout_ms)):
        return await _describe_area(tab, wanted.to, timeout_ms)
    if wanted.to is None and wanted.text is None:
        moved = await _work_on_area(tab, wanted, timeout_ms, "move", wanted.direction, wanted.amount)
        return moved if moved["moved"] else await _scroll_by_wheel(tab, wanted, moved, timeout_ms)
    budget_ms = max(work_ms(timeout_ms) - _RESERVED_MS, 0)
    found = await _work_on_area(tab, wanted, timeout_ms, "search", wanted.text, wanted.to, budget_ms)
    if not found["found"]:
        raise _not_reached(wanted, found)
    return found


async def _work_on_area(tab: "Tab", wanted: Scroll, timeout_ms: int, work: str, *arguments: Any) -> dict[str, Any]:
    """Do something with the area that scrolls, in its page or frame, and return its state."""
    area = tab.page.locator(":root") if wanted.area is None else await locate_element(tab, Target(wanted.area))
    limit_ms = min(timeout_ms, _THERE_MS)
    is_page = wanted.area is None
    try:
        state: dict[str, Any] = await tab.refs.run_to_end(
            area, "scroll", is_page, wanted.is_sideways, work, *arguments, timeout_ms=limit_ms
        )
    except Exception as exc:
        if wanted.area is None or not is_driver_timeout(exc):
            raise
        raise element_not_found(wanted.area, limit_ms, tabId=tab.tab_id, url=tab.page.url) from exc
    return state


async def _scroll_by_wheel(tab: "Tab", wanted: Scroll, state: dict[str, Any], timeout_ms: int) -> dict[str, Any]:
    """Turn the mouse wheel over areas that scroll by script, such as editors and maps, and detect their end."""
    right, down = _WHEEL.get(wanted.direction, (0, 0))
    box = None if wanted.area is None else await (await locate_element(tab, Target(wanted.area))).bounding_box()
    if box is None or not (right or down):
        return state
    await tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await tab.page.mouse.wheel(right * wanted.amount, down * wanted.amount)
    after = await _work_on_area(tab, wanted, timeout_ms, "state")
    return {**after, "moved": any(after[key] != state[key] for key in ("scrollTop", "scrollLeft", "first", "last"))}


_WHEEL = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


async def _describe_area(tab: "Tab", selector: str, timeout_ms: int) -> dict[str, Any]:
    """Return the state of the area of a visible element."""
    locator = await locate_element(tab, Target(selector), must_be_seen=True)
    return {**await tab.refs.run_to_end(locator, "scroll", False, False, "state", timeout_ms=timeout_ms), "found": True}


async def _bring_into_view(tab: "Tab", selector: str, timeout_ms: int) -> bool:
    """Bring an existing element into view; else return False after checking that it can be searched for."""
    locator = await locate_element(tab, Target(selector), must_be_seen=True)
    if await locator.count():
        await tab.refs.run(locator, "bringIntoView", timeout_ms=timeout_ms)
        if not await locator.is_visible():
            raise element_not_actionable(selector, "it is hidden", tabId=tab.tab_id, url=tab.page.url)
        return True
    try:
        await tab.refs.run(tab.page.locator(":root"), "checkSelector", selector)
    except Exception as exc:
        if not is_driver_error(exc) or not is_bad_selector(exc):
            raise
        message = f"no element matches {selector!r} now; to look for it while scrolling, give a CSS selector or text"
        raise ToolError("element_not_found", message, selector=selector) from exc
    return False


def _not_reached(wanted: Scroll, state: dict[str, Any]) -> ToolError:
    what = repr(wanted.text if wanted.to is None else wanted.to)
    is_over = state["isOver"] and not state["empty"]
    if is_over:
        message = f"{what} is nowhere in the area {state['area']}, which was gone through from end to end"
    elif state["isOver"]:
        message = (
            f"{what} was not seen in the area {state['area']}, but {state['empty']} parts of it stayed empty while it "
            "was gone through: call again, or wait for a text of it with browser_wait_for"
        )
    else:
        message = (
            f"{what} was not met up to {state['scrollTop']} of {state['scrollHeight']} pixels; call again to go on"
        )
    return ToolError(
        "element_not_found",
        f"{message}. In view: {state['first']!r} to {state['last']!r}",
        retryable=not is_over,
        **{key: state[key] for key in ("area", "scrollTop", "scrollHeight", "clientHeight")},
    )
