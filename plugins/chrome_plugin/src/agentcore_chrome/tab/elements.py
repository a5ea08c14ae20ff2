"""Finding elements by selector or snapshot reference, and acting on them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_s
from agentcore_chrome.failures import (
    COVERED,
    bad_selector,
    element_not_actionable,
    element_not_found,
    extract_headline,
    find_blocking_reason,
    is_bad_selector,
    is_driver_error,
    is_driver_timeout,
)
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

T = TypeVar("T")

_REF = re.compile(r"(?:aria-ref=|ref=|@)?((?:f\d+)?e\d+)")


_LOOK_S = 5
_TOLD_CHARS = 100
_ALIKE = 5
_FOUND_BY_ROLE = frozenset(("button", "link", "textbox", "checkbox", "radio", "tab", "menuitem", "switch", "combobox"))
"""Roles that the driver assigns to the same elements as a snapshot does."""

_MAY_BE_INERT = (None, COVERED)
_INERT = "e => !!e.closest('[inert]')"
_HAS_CONTENT = "() => !!document.body?.firstElementChild"


@dataclass(frozen=True, slots=True)
class Target:
    """An element as named by a caller: a selector, or a reference of a snapshot (`e12`)."""

    text: str

    @property
    def ref(self) -> str | None:
        """The reference, if it is one; no HTML element has such a name."""
        found = _REF.fullmatch(self.text.strip())
        return found.group(1) if found else None


async def locate_element(tab: Tab, target: Target) -> "Locator":
    """Return the named element; if several match a selector, the first one.

    Raises:
        ToolError: `stale_ref`; `element_not_found`: the page is empty, because it has not been navigated yet.
    """
    if target.ref is None:
        await _raise_if_blank(tab, target.text)
        return tab.page.locator(target.text).first
    found = await tab.refs.find_element(tab.page, target.ref)
    if found is None:
        raise await _stale_ref_error(tab, target.ref)
    return found


async def on_element(
    tab: Tab, target: Target, timeout_ms: int, work: Callable[["Locator"], Awaitable[T]], *, acts: bool = True
) -> T:
    """Run `work` on an element once it exists and is ready for it.

    Args:
        acts: Whether `work` needs the element to be usable, not just to exist.
    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `invalid_arguments`.
    """

    async def run() -> T:
        locator = await locate_element(tab, target)
        return await work(locator)

    try:
        return await tab.run_action(run, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not isinstance(exc, TimeoutError):
            raise
        raise await _explain_error(tab, target, timeout_ms, exc, acts=acts) from exc


async def act_without_element(tab: Tab, timeout_ms: int, what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Run an action that needs no element, and report why it failed.

    Raises:
        ToolError: `action_failed`.
    """
    try:
        return await tab.run_action(work, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise ToolError("action_failed", f"could not {what}: {reason}", retryable=True, url=tab.page.url) from exc


async def _stale_ref_error(tab: Tab, ref: str) -> ToolError:
    """Return the error for an unusable reference, with similar elements of the current page."""
    told = tab.refs.find_description(ref)
    if told is None:
        message = f"no snapshot of this page gave the reference {ref!r}; take one with browser_snapshot"
        return ToolError("stale_ref", message, ref=ref)
    page = await tab.run_or_default(lambda: tab.read_page_tree(work_s(_LOOK_S) * 1000), None, work_s(_LOOK_S))
    alike = [line.ref for line in page.lines if line.ref and line.head == told] if page is not None else []
    message = f"{ref!r} was {told[:_TOLD_CHARS]}, which is gone from the page; {_describe_alike(told, alike)}"
    return ToolError("stale_ref", message, ref=ref)


def _describe_alike(told: str, alike: list[str]) -> str:
    if not alike:
        return "take a new snapshot"
    if len(alike) == 1:
        role, _, name = told.partition(" ")
        if not name or role not in _FOUND_BY_ROLE:
            return f"{alike[0]!r} is like it now"
        return f"{alike[0]!r} is like it now; where the page makes it anew all the time, use 'role={role}[name={name}]'"
    shown = ", ".join(map(repr, alike[:_ALIKE])) + (" …" if len(alike) > _ALIKE else "")
    return f"{len(alike)} are called like it now ({shown}): take a new snapshot to see which is meant"


async def _raise_if_blank(tab: Tab, selector: str) -> None:
    # A popup is blank until its address answers; waiting in any other blank page is futile.
    if tab.page.url != "about:blank" or tab.opener is not None or await tab.page.evaluate(_HAS_CONTENT):
        return
    message = f"the page is empty (about:blank), so nothing matches {selector!r}; go to an address first"
    raise ToolError("element_not_found", message, selector=selector, url=tab.page.url)


async def _explain_error(tab: Tab, target: Target, timeout_ms: int, error: Exception, *, acts: bool) -> ToolError:
    named = {"tabId": tab.tab_id, "url": tab.page.url}
    if is_bad_selector(error):
        return bad_selector(target.text, error)
    if not is_driver_timeout(error):
        return element_not_actionable(target.text, extract_headline(error), **named)
    reason = find_blocking_reason(error)
    if reason is None and "locator resolved to" not in str(error) and not await _is_there_after_all(tab, target):
        return element_not_found(target.text, timeout_ms, **named)
    if not acts:
        return element_not_actionable(target.text, f"was not ready within {timeout_ms} ms", **named)
    if reason in _MAY_BE_INERT and await _is_inert(tab, target):
        reason = "the page holds it still (inert) while a menu, list or dialog is open; finish or close that first"
    return element_not_actionable(target.text, reason or f"it was not ready within {timeout_ms} ms", **named)


async def _is_inert(tab: Tab, target: Target) -> bool:
    async def look() -> bool:
        return bool(await (await locate_element(tab, target)).evaluate(_INERT))

    return await tab.run_or_default(look, default=False)


async def _is_there_after_all(tab: Tab, target: Target) -> bool:
    """True if the element exists: a slow machine may use up the limit before the driver checks even once."""

    async def look() -> bool:
        return await (await locate_element(tab, target)).count() > 0

    return await tab.run_or_default(look, default=False)
