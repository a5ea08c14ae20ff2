"""Clicking an element where a user would, even if another part of the same control covers it."""

from typing import TYPE_CHECKING, Any

from agentcore_chrome.failures import COVERED, find_blocking_reason, is_driver_timeout
from agentcore_chrome.tab.in_page import with_its

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
_PLAIN = {"button": "left", "modifiers": [], "click_count": 1}


async def click_element(locator: "Locator", timeout_ms: int, **how: Any) -> None:
    """Click an element, through another part of the same component if that covers it.

    The hidden input field of an editor that renders its text itself is focused instead.

    Args:
        timeout_ms: Limit of all attempts together.
        how: Arguments of the driver's `click`.
    """
    if how.items() <= _PLAIN.items() and await _is_hidden_text_field(locator, timeout_ms):
        await locator.focus(timeout=timeout_ms)
        return
    left_ms = timeout_ms
    forced = False
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


async def _is_hidden_text_field(locator: "Locator", timeout_ms: int) -> bool:
    if not await locator.count():
        return False
    found: bool = await locator.evaluate(_TAKES_KEYS_UNSEEN, timeout=timeout_ms)
    return found
