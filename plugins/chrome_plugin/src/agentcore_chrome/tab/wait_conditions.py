"""Waiting for a condition in a page."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from agentcore.api import ToolError
from agentcore_chrome.failures import (
    bad_selector,
    extract_headline,
    is_bad_selector,
    is_driver_error,
    is_driver_timeout,
)
from agentcore_chrome.tab.elements import Target, locate_element
from agentcore_chrome.tab.tab import Tab

ElementState = Literal["attached", "visible", "hidden", "detached"]
LoadState = Literal["load", "domcontentloaded", "networkidle"]


async def for_selector(tab: Tab, selector: str, state: ElementState, timeout_ms: int) -> None:
    """Wait until an element is attached, visible, hidden or detached.

    Raises:
        ToolError: `wait_timeout`, `invalid_arguments`, `stale_ref`.
    """

    async def wait() -> None:
        locator = await locate_element(tab, Target(selector))
        await locator.wait_for(state=state, timeout=timeout_ms)

    await _run_wait(tab, wait, f"{selector!r} to be {state}", timeout_ms, selector=selector, state=state)


async def for_condition(tab: Tab, condition: str, timeout_ms: int) -> None:
    """Wait until a JavaScript expression is true.

    Raises:
        ToolError: `wait_timeout`, `evaluation_error`.
    """

    async def wait() -> None:
        try:
            handle = await tab.page.wait_for_function(_as_function(condition), timeout=timeout_ms)
        except Exception as exc:
            if not is_driver_error(exc) or "SyntaxError" not in str(exc):
                raise
            # Statements, not an expression: pass them unchanged, which only some pages allow.
            handle = await tab.page.wait_for_function(condition, timeout=timeout_ms)
        await handle.dispose()

    await _run_wait(tab, wait, f"{condition!r} to be true", timeout_ms, condition=condition)


def _as_function(condition: str) -> str:
    """Return an expression as a function: the page would evaluate a text, which many sites' policies forbid."""
    expression = condition.strip().rstrip(";")
    return f"() => {{ const value = ({expression}\n); return typeof value === 'function' ? value() : value; }}"


async def for_url(tab: Tab, url: str, timeout_ms: int) -> None:
    """Wait until the page's address contains `url`, or matches it if it contains `*` or `**` for anything.

    Raises:
        ToolError: `wait_timeout`.
    """
    wanted = url if "*" in url else re.compile(re.escape(url))
    await _run_wait(
        tab, lambda: tab.page.wait_for_url(wanted, timeout=timeout_ms), f"the address {url!r}", timeout_ms, url=url
    )


async def for_load_state(tab: Tab, state: LoadState, timeout_ms: int) -> None:
    """Wait until the page reaches a load state.

    Raises:
        ToolError: `wait_timeout`.
    """
    await _run_wait(
        tab, lambda: tab.page.wait_for_load_state(state, timeout=timeout_ms), f"{state!r}", timeout_ms, state=state
    )


async def _run_wait(tab: Tab, work: Callable[[], Awaitable[Any]], what: str, timeout_ms: int, **context: Any) -> None:
    try:
        await tab.run_action(work, timeout_ms)
    except Exception as exc:
        if is_driver_timeout(exc):
            raise ToolError(
                "wait_timeout",
                f"waited {timeout_ms} ms for {what} in vain; look at the page, or allow more time",
                retryable=True,
                tabId=tab.tab_id,
                pageUrl=tab.page.url,
                timeoutMs=timeout_ms,
                **context,
            ) from exc
        if not is_driver_error(exc):
            raise
        if is_bad_selector(exc) and "selector" in context:
            raise bad_selector(str(context["selector"]), exc) from exc
        raise ToolError("evaluation_error", f"the condition failed: {extract_headline(exc)}", **context) from exc
