"""Clicking an element where a user would, even if another part of the same control covers it."""

from typing import TYPE_CHECKING, Any

from agentcore_chrome.failures import COVERED, find_blocking_reason, is_driver_timeout
from agentcore_chrome.tab.elements import Hit
from agentcore_chrome.tab.in_page import with_its
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

_ATTEMPT_MS = 3_000
"""Time until it is checked what covers an element; closing menus and scrolling pages are done by then."""

_DONE = "performing click action"
"""Text in the driver's call log once the mouse has been pressed."""

# Inside one component, what covers an element belongs to the same control, such as the tags of a multiple choice.
_IS_COVERED_BY_ITS_OWN = """element => {
  const root = element.getRootNode(), box = element.getBoundingClientRect();
  if (!(root instanceof ShadowRoot)) return false;
  const hit = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return hit !== null && root.contains(hit);
}"""

# Editors that render their text themselves receive keys through a tiny or invisible field. The visible part is above or
# around it, and is what a user clicks to place the caret.
_TAKES_KEYS_UNSEEN = with_its("""element => {
  const isTiny = e => { const box = its(e).getBoundingClientRect(); return box.width <= 2 || box.height <= 2; };
  const isClipped = e => isTiny(e) && getComputedStyle(e).overflow !== 'visible';
  const takesText = element.localName === 'textarea' || element.isContentEditable || element.editContext;
  if (!takesText || element.matches(':disabled')) return false;
  let around = element.parentElement;
  if (!isTiny(element) && getComputedStyle(element).opacity !== '0' && !(around && isClipped(around))) return false;
  while (around && isTiny(around)) around = its(around).parentElement;
  its(around)?.scrollIntoViewIfNeeded();
  const box = its(around)?.getBoundingClientRect();
  const hit = box && its(around).getRootNode().elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return !!hit && (its(around).contains(hit) || its(hit).contains(around));
}""")

# An animation without an end, such as a pulse, is no movement that ends if one waits for it.
# An area of an image's map is not drawn, so there is nothing that the driver could click.
_PECULIARITY = with_its("""element => {
  if (element.localName === 'area') return 'area';
  const isEndless = one => one.playState === 'running' && one.effect?.getComputedTiming().endTime === Infinity;
  for (let e = element; e; e = its(e).parentElement ?? its(e).getRootNode().host) {
    if (its(e).getAnimations().some(isEndless)) return 'moves';
  }
  return '';
}""")

_LABEL = "element => [...element.labels].find(label => label.getBoundingClientRect().width > 0)"
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
        await click_label(hit.locator, timeout_ms, **how)
        return
    locator = hit.locator
    if how.items() <= _PLAIN.items() and await is_hidden_text_field(locator, timeout_ms):
        await locator.focus(timeout=timeout_ms)
        return
    left_ms = timeout_ms
    peculiarity = await locator.evaluate(_PECULIARITY, timeout=timeout_ms)
    if peculiarity == "area":
        await locator.evaluate("area => area.click()", timeout=timeout_ms)
        return
    forced = peculiarity == "moves" and await _is_unobstructed(tab, hit, timeout_ms)
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
            forced = is_covered and await locator.evaluate(_IS_COVERED_BY_ITS_OWN, timeout=left_ms)
        else:
            return


async def click_point(tab: Tab, x: float, y: float, how: dict[str, Any]) -> str:
    """Click a point of the window, and return role and name of what was there."""
    found = await tab.refs.describe_point(tab.page, x, y)
    await tab.page.mouse.click(x, y, **how)
    return found


async def click_label(locator: "Locator", timeout_ms: int, **how: Any) -> None:
    """Click the visible label of a hidden control."""
    label = (await locator.evaluate_handle(_LABEL, timeout=timeout_ms)).as_element()
    if label is not None:
        await label.click(timeout=timeout_ms, **how)


async def may_be_forced(tab: Tab, hit: Hit, timeout_ms: int) -> bool:
    """Return whether the driver should not wait until an element stops moving.

    True if an animation without an end moves it, and it is as the driver otherwise waits for: enabled and not covered.
    """
    moves = await hit.locator.evaluate(_PECULIARITY, timeout=timeout_ms) == "moves"
    return moves and await _is_unobstructed(tab, hit, timeout_ms)


async def _is_unobstructed(tab: Tab, hit: Hit, timeout_ms: int) -> bool:
    obstacles = await tab.refs.find_obstacles(hit.locator)
    return not obstacles.is_hidden and not obstacles.cover and await hit.locator.is_enabled(timeout=timeout_ms)


async def is_hidden_text_field(locator: "Locator", timeout_ms: int) -> bool:
    """True if an element is the field through which an editor that renders its text itself receives keys."""
    found: bool = await locator.evaluate(_TAKES_KEYS_UNSEEN, timeout=timeout_ms)
    return found
