"""Choosing options in select fields and in the list widgets of UI libraries, check boxes and radio buttons."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import element_not_actionable, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.clicking import click_label, may_be_forced
from agentcore_chrome.tab.elements import Hit, wait_until_reachable
from agentcore_chrome.tab.fields import FieldState, field_of, read_field
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

_OPTIONS_MS = 3000
"""How long to wait for options that may still be loading."""

_SHOWN = 100
_MORE = ". If the list makes more of them as it is scrolled, scroll to the option first"
_AGAIN_S = 0.1
_OPENS_LIST = "[role=combobox], [role=listbox], [aria-haspopup=listbox]"
_CAN_BE_CHECKED = "input[type=checkbox], input[type=radio], [role=checkbox], [role=switch], [role=radio]"
_CHECKED_ROLES = frozenset(("checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"))
_LIST_ROLES = frozenset(("combobox", "listbox"))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The options that are chosen, by value and as users see them."""

    values: list[str]
    labels: list[str]

    def __str__(self) -> str:
        return ", ".join(map(repr, self.labels)) or "nothing"


async def set_checked(tab: Tab, hit: Hit, value: bool, timeout_ms: int) -> None:
    """Set a check box, switch or radio button, or the only one inside the element; through its label if it is hidden.

    Raises:
        ToolError: `element_not_actionable`.
    """
    locator = hit.locator
    state = await field_of(tab, hit)
    inner = locator.locator(_CAN_BE_CHECKED)
    if state.kind != "check" and state.role not in _CHECKED_ROLES and await inner.count() == 1:
        locator = inner
    described = await tab.refs.describe_element(locator)
    if described.is_operated_by_label:
        await _set_by_label(tab, replace(hit, locator=locator), value, timeout_ms)
        return
    # UI libraries draw over the native box, which the driver would take for covered: force the click.
    is_drawn_over = bool(await tab.refs.ask(locator, "drawnOver", timeout_ms))
    forced = is_drawn_over or await may_be_forced(tab, replace(hit, locator=locator), timeout_ms)
    await locator.set_checked(value, timeout=timeout_ms, force=forced)


async def _set_by_label(tab: Tab, hit: Hit, value: bool, timeout_ms: int) -> None:
    locator = hit.locator
    if await locator.is_checked(timeout=timeout_ms) == value:
        return
    await click_label(tab, locator, timeout_ms)
    if await locator.is_checked(timeout=timeout_ms) != value:
        raise element_not_actionable(
            hit.selector, "a click on its label did not change it", description=hit.description
        )


async def choose_options(tab: Tab, hit: Hit, wanted: list[str], timeout_ms: int) -> Chosen | None:
    """Choose options by label, or by value where no label is like that.

    Returns:
        What is chosen afterwards; None: the element has nothing to choose from.
    Raises:
        ToolError: `value_rejected`: there is no such option; `element_not_actionable`: the field is hidden or covered.
    """
    locator = hit.locator
    state = await field_of(tab, hit)
    if state.kind == "choice":
        await wait_until_reachable(tab, hit, timeout_ms)
        return await _select_options(tab, locator, wanted, timeout_ms)
    labels = await _choose_in_widget(tab, locator, state, wanted, timeout_ms)
    return None if labels is None else Chosen(labels, labels)


async def _choose_in_widget(
    tab: Tab, locator: "Locator", state: FieldState, wanted: list[str], timeout_ms: int
) -> list[str] | None:
    radios = locator.get_by_role("radio")
    if state.has_contents and await radios.count():
        return await _run_for_each(wanted, lambda label: _check_radio(locator, label, timeout_ms))
    opener = await _find_opener(tab, locator, state)
    if opener is None:
        return None
    return await _run_for_each(wanted, lambda label: _pick_option(opener, label, timeout_ms))


async def _select_options(tab: Tab, locator: "Locator", wanted: list[str], timeout_ms: int) -> Chosen:
    options = await _wait_for_options(tab, locator, wanted, timeout_ms)
    places = [_find_option(options, one) for one in wanted]
    indices = [place for place in places if place is not None]
    if len(indices) < len(wanted):
        raise _no_option(wanted, [label for label, _ in options])
    try:
        await locator.select_option(index=indices, timeout=min(timeout_ms, _OPTIONS_MS))
    except Exception as exc:
        if "option being selected is not enabled" not in str(exc):
            raise
        raise ToolError("value_rejected", f"the option {wanted!r} is disabled", value=wanted) from exc
    return Chosen([options[at][1] for at in indices], [options[at][0] for at in indices])


async def _wait_for_options(tab: Tab, locator: "Locator", wanted: list[str], timeout_ms: int) -> list[tuple[str, str]]:
    """Return label and value of all options, once the wanted ones are among them or the limit is reached."""
    loop = asyncio.get_running_loop()
    until = loop.time() + min(timeout_ms, _OPTIONS_MS) / 1000
    while True:
        options = [(label, value) for label, value in await tab.refs.run(locator, "options", timeout_ms=timeout_ms)]
        if loop.time() >= until or all(_find_option(options, one) is not None for one in wanted):
            return options
        await asyncio.sleep(_AGAIN_S)


def _find_option(options: list[tuple[str, str]], wanted: str) -> int | None:
    """Return the index of the option with a label, else with a value: users and models see labels."""
    by_label = {label: at for at, (label, _) in reversed([*enumerate(options)])}
    by_value = {value: at for at, (_, value) in reversed([*enumerate(options)])}
    return by_label.get(" ".join(wanted.split()), by_value.get(wanted))


async def _find_opener(tab: Tab, locator: "Locator", state: FieldState) -> "Locator | None":
    """Return what opens the list, the element or the one inside; editable comboboxes count as text fields."""
    if state.role in _LIST_ROLES and (state.kind == "other" or state.is_read_only):
        return locator
    inner = locator.locator(_OPENS_LIST)
    if not state.has_contents or await inner.count() == 0:
        return None
    inside = await read_field(tab, inner.first)
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
        raise _no_option([label], await options.all_inner_texts(), _MORE) from exc


def _no_option(wanted: list[str], labels: list[str], advice: str = "") -> ToolError:
    shown = [" ".join(label.split()) for label in labels[:_SHOWN]]
    message = f"there is no option {wanted!r}; there are: {', '.join(map(repr, shown)) or 'none'}{advice}"
    return ToolError("value_rejected", message, value=wanted, options=shown)
