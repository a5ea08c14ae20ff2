"""Choosing options in select fields and in the list widgets of UI libraries, check boxes and radio buttons."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import is_driver_error, is_driver_timeout
from agentcore_chrome.tab.fields import FieldState, read_field

if TYPE_CHECKING:
    from playwright.async_api import Locator

_OPTIONS_MS = 3000
"""How long to wait for options that may still be loading."""

_SHOWN = 100
_LABELS = "e => [...e.options].slice(0, 100).map(one => one.label)"
_OPENS_LIST = "[role=combobox], [role=listbox], [aria-haspopup=listbox]"
_CAN_BE_CHECKED = "input[type=checkbox], input[type=radio], [role=checkbox], [role=switch], [role=radio]"
_DRAWN_OVER = """e => {
  e.scrollIntoViewIfNeeded();
  const box = e.getBoundingClientRect(), label = e.closest('label');
  const hit = e.getRootNode().elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return !!label && !!hit && hit !== e && label.contains(hit) && !hit.closest('a');
}"""
_CHECKED_ROLES = frozenset(("checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"))
_LIST_ROLES = frozenset(("combobox", "listbox"))


async def set_checked(locator: "Locator", value: bool, timeout_ms: int) -> None:
    """Set a check box, switch or radio button, or the only one inside the element."""
    await locator.wait_for(state="attached", timeout=timeout_ms)
    state = await read_field(locator)
    inner = locator.locator(_CAN_BE_CHECKED)
    if state.kind != "check" and state.role not in _CHECKED_ROLES and await inner.count() == 1:
        locator = inner
    # UI libraries draw over the native box, which the driver would take for covered: force the click.
    is_drawn_over: bool = await locator.evaluate(_DRAWN_OVER, timeout=timeout_ms)
    await locator.set_checked(value, timeout=timeout_ms, force=is_drawn_over)


async def choose_options(locator: "Locator", wanted: list[str], timeout_ms: int) -> list[str] | None:
    """Choose options by value or label.

    Returns:
        What is chosen afterwards; None: the element has nothing to choose from.
    Raises:
        ToolError: `value_rejected`: there is no such option.
    """
    await locator.wait_for(state="attached", timeout=timeout_ms)
    state = await read_field(locator)
    if state.kind == "choice":
        return await _select_options(locator, wanted, timeout_ms)
    radios = locator.get_by_role("radio")
    if await radios.count():
        return await _run_for_each(wanted, lambda label: _check_radio(locator, label, timeout_ms))
    opener = await _find_opener(locator, state)
    if opener is None:
        return None
    return await _run_for_each(wanted, lambda label: _pick_option(opener, label, timeout_ms))


async def _select_options(locator: "Locator", wanted: list[str], timeout_ms: int) -> list[str]:
    try:
        return await locator.select_option(wanted, timeout=min(timeout_ms, _OPTIONS_MS))
    except Exception as exc:
        if "option being selected is not enabled" in str(exc):
            raise ToolError("value_rejected", f"the option {wanted!r} is disabled", value=wanted) from exc
        if "did not find some options" not in str(exc):
            raise
        raise _no_option(wanted, await locator.evaluate(_LABELS)) from exc


async def _find_opener(locator: "Locator", state: FieldState) -> "Locator | None":
    """Return what opens the list, the element or the one inside; editable comboboxes count as text fields."""
    if state.role in _LIST_ROLES and (state.kind == "other" or state.is_read_only):
        return locator
    inner = locator.locator(_OPENS_LIST)
    if await inner.count() == 0:
        return None
    inside = await read_field(inner.first)
    return inner.first if inside.kind == "other" or inside.is_read_only else None


async def _run_for_each(wanted: list[str], do: Callable[[str], Awaitable[None]]) -> list[str]:
    for label in wanted:
        await do(label)
    return wanted


async def _check_radio(group: "Locator", label: str, timeout_ms: int) -> None:
    radio = group.get_by_role("radio", name=label, exact=True)
    if not await radio.count():
        raise _no_option([label], await group.get_by_role("radio").all_inner_texts())
    await radio.first.set_checked(True, timeout=timeout_ms)


async def _pick_option(opener: "Locator", label: str, timeout_ms: int) -> None:
    """Open the list if it is closed, and click the option, which libraries may render anywhere in the page."""
    options = opener.page.get_by_role("option")
    if not await options.filter(visible=True).count():
        await opener.click(timeout=timeout_ms)
    option = opener.page.get_by_role("option", name=label, exact=True)
    try:
        await option.first.click(timeout=min(timeout_ms, _OPTIONS_MS))
    except Exception as exc:
        if not is_driver_error(exc) or not is_driver_timeout(exc) or await option.count():
            raise
        raise _no_option([label], await options.all_inner_texts()) from exc


def _no_option(wanted: list[str], labels: list[str]) -> ToolError:
    shown = [" ".join(label.split()) for label in labels[:_SHOWN]]
    message = f"there is no option {wanted!r}; there are: {', '.join(map(repr, shown)) or 'none'}"
    return ToolError("value_rejected", message, value=wanted, options=shown)
