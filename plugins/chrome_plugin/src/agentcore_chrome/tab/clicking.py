"""Clicking an element where a person would: also where another part of the same control lies above it."""

from typing import TYPE_CHECKING, Any

from agentcore_chrome.failures import COVERED, find_blocking_reason, is_driver_timeout
from agentcore_chrome.tab.in_page import with_its

if TYPE_CHECKING:
    from playwright.async_api import Locator

_ATTEMPT_MS = 3_000
"""After so long what covers an element is looked at; a menu that closes or a page that scrolls has gone by then."""

_DONE = "performing click action"
"""What the driver's log says once the mouse has been pressed."""

# inside of one component, what lies above an element belongs to the same control: the tags of a multiple choice, say
_IS_COVERED_BY_ITS_OWN = """element => {
  const root = element.getRootNode(), box = element.getBoundingClientRect();
  if (!(root instanceof ShadowRoot)) return false;
  const hit = root.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return hit !== null && root.contains(hit);
}"""

# editors that draw their text themselves hear keys by a field of no size, or that cannot be seen; what is seen lies
# above it or around it, and is what a person clicks to put the caret there
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
    """Click an element; one that another part of the same component covers is clicked through that.

    Of an editor that draws its text itself, the field that it hears keys by is given the focus.

    Args:
        timeout_ms: Limit of all of it.
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
                return  # what it set going takes longer; a second click would do it twice
            is_covered = find_blocking_reason(exc) == COVERED
            forced = is_covered and await locator.evaluate(_IS_COVERED_BY_ITS_OWN, timeout=left_ms)
        else:
            return


async def _is_hidden_text_field(locator: "Locator", timeout_ms: int) -> bool:
    if not await locator.count():
        return False
    found: bool = await locator.evaluate(_TAKES_KEYS_UNSEEN, timeout=timeout_ms)
    return found
