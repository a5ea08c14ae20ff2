"""Clicking an element where a user would, even if another part of the same control covers it."""

from typing import TYPE_CHECKING, Any

from agentcore_chrome.failures import (
    COVERED,
    DISABLED,
    element_not_actionable,
    find_blocking_reason,
    is_driver_timeout,
)
from agentcore_chrome.tab.elements import Hit, wait_until_reachable
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator, Position

_ATTEMPT_MS = 3_000
"""Time until it is checked what covers an element; closing menus and scrolling pages are done by then."""

_CHOOSER_S = 0.3
"""How long a file chooser is waited for where a click has used up the user activation; a popup does that, too."""

_DONE = "performing click action"
"""Text in the driver's call log once the mouse has been pressed."""

_PLAIN = {"button": "left", "modifiers": [], "click_count": 1}


async def click_element(tab: Tab, hit: Hit, timeout_ms: int, **how: Any) -> None:
    """Click an element, through another part of the same component if that covers it.

    A check box, radio button or file field that is hidden is clicked through its label. The hidden input field of an
    editor that renders its text itself is focused instead.

    Args:
        timeout_ms: Limit of all attempts together.
        how: Arguments of the driver's `click`.
    """
    if hit.is_operated_by_label:
        await click_label(tab, hit.locator, timeout_ms, **how)
        await _wait_for_chooser(tab)
        return
    locator = hit.locator
    if how.items() <= _PLAIN.items() and hit.approach.takes_keys:
        await locator.focus(timeout=timeout_ms)
        return
    peculiarity = hit.approach.peculiarity
    if peculiarity == "area":
        await tab.refs.ask(locator, "clickArea", timeout_ms)
        return
    if peculiarity == "contents":
        box, position = await _locate_place(tab, hit, timeout_ms)
        await box.click(timeout=timeout_ms, position=position, **how)
        return
    forced = peculiarity == "moves" and await _is_unobstructed(tab, hit, timeout_ms)
    address = tab.page.url
    await _click_repeatedly(tab, locator, timeout_ms, how, is_forced=forced)
    if peculiarity == "files" and tab.page.url == address:
        await _wait_for_chooser(tab)


async def _click_repeatedly(
    tab: Tab, locator: "Locator", timeout_ms: int, how: dict[str, Any], *, is_forced: bool
) -> None:
    """Click an element until the driver has pressed the mouse, through its own component if that covers it."""
    left_ms = timeout_ms
    forced = is_forced
    while True:
        try:
            await locator.click(timeout=min(left_ms, _ATTEMPT_MS), force=forced, **how)
        except Exception as exc:
            left_ms -= _ATTEMPT_MS
            if left_ms <= 0 or not is_driver_timeout(exc):
                raise
            if _DONE in str(exc):
                return  # its effect takes longer; a second click would trigger it twice
            is_covered = find_blocking_reason(exc) == COVERED
            forced = is_covered and await tab.refs.ask(locator, "coveredByItsOwn", left_ms)
        else:
            return


async def _wait_for_chooser(tab: Tab) -> None:
    """Wait for the file chooser that a click has opened, if it has: the driver reports it some time after the click.

    Opening one uses up the user activation that each click gives.
    """
    is_activated = await tab.run_or_default(lambda: tab.refs.ask_page(tab.page, "isActivated"), default=True)
    if not is_activated:
        await tab.run_or_default(tab.chooser_opened.wait, default=True, limit_s=_CHOOSER_S)


async def click_point(tab: Tab, x: float, y: float, how: dict[str, Any]) -> str:
    """Click a point of the window, and return role and name of what was there."""
    found = await tab.refs.describe_point(tab.page, x, y)
    await tab.page.mouse.click(x, y, **how)
    return found


async def click_label(tab: Tab, locator: "Locator", timeout_ms: int, **how: Any) -> None:
    """Click the visible label of a hidden control."""
    await tab.refs.locate_below(locator, "!label").click(timeout=timeout_ms, **how)


async def hover_element(tab: Tab, hit: Hit, timeout_ms: int) -> None:
    """Move the mouse over an element."""
    peculiarity = hit.approach.peculiarity
    if peculiarity == "contents":
        box, position = await _locate_place(tab, hit, timeout_ms)
        await box.hover(timeout=timeout_ms, position=position)
        return
    forced = peculiarity == "moves" and await _is_unobstructed(tab, hit, timeout_ms)
    await hit.locator.hover(timeout=timeout_ms, force=forced)


async def may_be_forced(tab: Tab, hit: Hit, timeout_ms: int) -> bool:
    """Return whether the driver should not wait until an element stops moving.

    True if an animation without an end moves it, and it is as the driver otherwise waits for: enabled and not covered.
    """
    (peculiarity, *_) = await tab.refs.ask(hit.locator, "peculiarity", timeout_ms)
    return peculiarity == "moves" and await _is_unobstructed(tab, hit, timeout_ms)


async def _locate_place(tab: Tab, hit: Hit, timeout_ms: int) -> "tuple[Locator, Position]":
    """Return the element around one without a box, and where in it the content of that is, once a user can reach it.

    Raises:
        ToolError: `element_not_actionable`.
    """
    await wait_until_reachable(tab, hit, timeout_ms)
    if not await hit.locator.is_enabled(timeout=timeout_ms):
        raise element_not_actionable(hit.selector, DISABLED, description=hit.description, url=tab.page.url)
    x, y = hit.approach.place
    return tab.refs.locate_below(hit.locator, "!box"), {"x": x, "y": y}


async def _is_unobstructed(tab: Tab, hit: Hit, timeout_ms: int) -> bool:
    obstacles = await tab.refs.find_obstacles(hit.locator)
    return not obstacles.is_hidden and not obstacles.cover and await hit.locator.is_enabled(timeout=timeout_ms)
