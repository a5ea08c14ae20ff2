"""Waiting for a condition in a page."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_s
from agentcore_chrome.failures import (
    bad_selector,
    extract_headline,
    is_bad_selector,
    is_closed,
    is_driver_error,
    is_driver_timeout,
)
from agentcore_chrome.tab.elements import Target, locate_element, raise_if_blank
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

_TEXT_S = 0.1
_FRAME_S = 2.0

ElementState = Literal["attached", "visible", "hidden", "detached"]
LoadState = Literal["load", "domcontentloaded", "networkidle"]


async def for_selector(tab: Tab, selector: str, state: ElementState, timeout_ms: int) -> None:
    """Wait until an element is attached, visible, hidden or detached.

    Raises:
        ToolError: `wait_timeout`, `invalid_arguments`, `stale_ref`.
    """

    async def wait() -> None:
        locator = await locate_element(tab, Target(selector))
        if Target(selector).ref is not None or state in {"attached", "detached"}:
            await locator.wait_for(state=state, timeout=timeout_ms)
            return
        seen = tab.page.locator(selector).filter(visible=True).first
        await seen.wait_for(state="attached" if state == "visible" else "detached", timeout=timeout_ms)

    await _run_wait(tab, wait, f"{selector!r} to be {state}", timeout_ms, selector=selector, state=state)


async def for_text(tab: Tab, text: str, timeout_ms: int, *, is_gone: bool = False) -> None:
    """Wait until a text can be seen somewhere in the page or its frames, or can no longer be seen anywhere.

    The text is literal: capitals and white space do not count, and no part of it is syntax.

    Raises:
        ToolError: `wait_timeout`; `element_not_found`: the page has gone nowhere.
    """

    async def wait() -> None:
        if not is_gone:
            await raise_if_blank(tab, text)
        # A limit of our own, before that of the action, which would stop the page's scripts.
        async with asyncio.timeout(work_s(timeout_ms / 1000)):
            # The page cannot report this: the text may come up in any frame, of any origin.
            while await _is_text_seen(tab.page, text, unless_known=is_gone) == is_gone:  # noqa: ASYNC110
                await asyncio.sleep(_TEXT_S)

    what = f"the text {text!r} to be gone" if is_gone else f"the text {text!r}"
    await _run_wait(tab, wait, what, timeout_ms, text=text)


async def _is_text_seen(page: "Page", text: str, *, unless_known: bool) -> bool:
    """Return whether a text can be seen in any frame.

    Args:
        unless_known: The answer for a frame that gives none, such as one that is being loaded.
    """
    seen = await asyncio.gather(*(_is_seen_in_frame(frame, text, unless_known=unless_known) for frame in page.frames))
    return any(seen)


async def _is_seen_in_frame(frame: "Frame", text: str, *, unless_known: bool) -> bool:
    try:
        async with asyncio.timeout(_FRAME_S):
            if not await frame.get_by_text(text).filter(visible=True).count():
                return False
            return frame.parent_frame is None or await (await frame.frame_element()).is_visible()
    except TimeoutError:
        return unless_known
    except Exception as exc:
        if not is_driver_error(exc) or (is_closed(exc) and frame.parent_frame is None):
            raise
        return False  # the frame has gone meanwhile


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
    requested = url if "*" in url else re.compile(re.escape(url))
    await _run_wait(
        tab, lambda: tab.page.wait_for_url(requested, timeout=timeout_ms), f"the address {url!r}", timeout_ms, url=url
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
                f"waited {timeout_ms} ms for {what} in vain; look at the page, or allow more with timeoutMs",
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
