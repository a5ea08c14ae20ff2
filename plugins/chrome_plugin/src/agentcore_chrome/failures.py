"""Driver errors, converted into errors that a caller can act on."""

import re
from collections.abc import Sequence
from typing import Any

from agentcore.api import ToolError

_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_CALL_LOG = re.compile(r"\nCall log:\n(.*)", re.DOTALL)
_URL_CHARS = 2000
COVERED = "another element covers it"
"""Reason for a failed click on an element that is below another one."""

DISABLED = "it is disabled"
"""Reason for a failed action on an element that is disabled, by itself or by what is around it."""

MOVING = "it does not stop moving"
"""Reason for a failed action on an element whose place changes; the driver checks this before anything above it."""

_REASONS = (
    ("intercepts pointer events", COVERED),
    ("element is not enabled", DISABLED),
    ("element is not editable", "it cannot be edited"),
    ("element is not visible", "it is not visible"),
    ("element is not stable", MOVING),
    ("element was detached", "it was taken out of the page"),
    ("outside of the viewport", "it cannot be scrolled into view"),
)
_CLOSED = (
    "Target page, context or browser has been closed",
    "Target crashed",
    "Page crashed",
    "Browser has been closed",
    "Connection closed",
    "has been closed",
)


def is_closed(error: BaseException) -> bool:
    """True if the driver reports that the page or its browser is gone."""
    text = str(error)
    return any(sign in text for sign in _CLOSED) or type(error).__name__ == "TargetClosedError"


def net_error(error: BaseException) -> str | None:
    """Return the browser's code for a failed connection, such as `net::ERR_CONNECTION_REFUSED`."""
    found = _NET.search(str(error))
    return f"net::{found.group(1)}" if found else None


def extract_headline(error: BaseException) -> str:
    """Return the driver's message without its call log and method name."""
    text = _CALL_LOG.sub("", str(error)).strip().split("\n")[0]
    return re.sub(r"^[A-Z]\w+\.\w+: ", "", text)


def is_bad_selector(error: BaseException) -> bool:
    """True if the selector itself cannot be parsed."""
    text = str(error)
    return any(
        sign in text
        for sign in (
            "Unexpected token",
            "is not a valid selector",
            "Unknown engine",
            "while parsing selector",
            "Malformed selector",
            "unexpected symbol",
            "Error while parsing",
        )
    )


def find_blocking_reason(error: BaseException) -> str | None:
    """Return what prevented an action on an element, according to the driver's call log."""
    text = str(error)
    return next((said for sign, said in _REASONS if sign in text), None)


def element_not_found(selector: str, timeout_ms: int, in_frames: Sequence[str] = (), **context: Any) -> ToolError:
    """Return the error for a selector that matched no element in time.

    Args:
        in_frames: What it matches in frames, each with its reference.
    """
    message = f"no element matches {selector!r} within {timeout_ms} ms; look at the page and choose another selector"
    if in_frames:
        listed = "\n".join(f"- {line}" for line in in_frames)
        message = (
            f"{selector!r} matches nothing in the page itself, where selectors look, within {timeout_ms} ms; in its "
            f"frames it does: use a reference\n{listed}"
        )
        context["matches"] = list(in_frames)
    return ToolError("element_not_found", message, retryable=True, selector=selector, **context)


def ambiguous_selector(selector: str, count: int, matches: Sequence[str]) -> ToolError:
    """Return the error for a selector of an action that several visible elements match.

    Args:
        matches: The first of them, each with its reference.
    """
    more = [f"… {count - len(matches)} more"] if count > len(matches) else []
    listed = "\n".join(f"- {line}" for line in [*matches, *more])
    return ToolError(
        "ambiguous_selector",
        f"{count} elements match {selector!r}, and nothing was done; use the reference of one, or a selector that only "
        f"one matches:\n{listed}",
        selector=selector,
        count=count,
        matches=list(matches),
    )


def element_not_actionable(selector: str, reason: str, *, description: str = "", **context: Any) -> ToolError:
    """Return the error for an element that exists but cannot be used.

    Args:
        description: Its role and name, if known.
    """
    named = f"{selector!r} ({description})" if description else repr(selector)
    return ToolError(
        "element_not_actionable",
        f"the element {named} is there, but {reason}",
        retryable=True,
        selector=selector,
        reason=reason,
        **context,
    )


def bad_selector(selector: str, error: BaseException) -> ToolError:
    """Return the error for a selector that is neither CSS nor of another supported kind."""
    return ToolError(
        "invalid_arguments", f"cannot read the selector {selector!r}: {extract_headline(error)}", selector=selector
    )


def tab_not_found(tab_id: str) -> ToolError:
    """Return the error for an unknown tab."""
    return ToolError(
        "tab_not_found", f"there is no tab {tab_id!r}; chrome_list shows those that are open", tabId=tab_id
    )


def explain_tab_gone(tab_id: str, url: str, browser_id: str, *, has_crashed: bool, is_browser_gone: bool) -> str:
    """Return why a tab is gone and what to do, for calls that still name it."""
    at = url if len(url) <= _URL_CHARS else f"{url[:_URL_CHARS]}…"
    if not has_crashed:
        return f"tab {tab_id!r} was closed; chrome_list shows those that are open"
    if is_browser_gone:
        return (
            f"tab {tab_id!r} is gone, for its browser {browser_id!r} crashed; start one with chrome_launch, and open "
            f"{at!r} in it with chrome_new_tab"
        )
    return (
        f"tab {tab_id!r} is gone, for its page crashed; open {at!r} again with chrome_new_tab, browserId "
        f"{browser_id!r}. What was typed there is lost"
    )


def instance_not_found(browser_id: str, *, has_crashed: bool = False) -> ToolError:
    """Return the error for a browser that is unknown or has crashed."""
    what = f"browser {browser_id!r} crashed" if has_crashed else f"there is no browser {browser_id!r}"
    message = f"{what}; chrome_list shows those that run, chrome_launch starts one"
    return ToolError("instance_not_found", message, browserId=browser_id)


def browser_closed(browser_id: str) -> ToolError:
    """Return the error for a browser that was closed during a call."""
    return ToolError("instance_not_found", f"browser {browser_id!r} was closed", browserId=browser_id)


def no_tab_opened(error: Exception, *, is_attached: bool) -> ToolError:
    """Return the error for a browser that opened no tab; an attached one may still have pages to work in."""
    if not is_attached:
        return ToolError("browser_launch_failed", f"the browser opened no tab: {error}")
    return ToolError(
        "browser_launch_failed",
        f"the attached browser opens no further page ({extract_headline(error)}). To work in one that it shows: "
        "browser_tabs with action list_attached, then attach with its target",
    )


def browser_crashed(what: str, **context: Any) -> ToolError:
    """Return the error for a dead process of the browser or the page."""
    return ToolError("browser_crashed", f"{what}; open the page again", retryable=True, **context)


def browser_lost(browser_id: str, *, goes_on: bool) -> ToolError:
    """Return the error for a lost connection to an external browser, which may still be running.

    Args:
        goes_on: True if its pages continue without the connection while it runs.
    """
    pages = (
        "its pages go on there, and are attached to again as soon as it answers"
        if goes_on
        else "its pages ended with it, and the next call opens a new one"
    )
    return ToolError(
        "browser_lost",
        f"the connection to the browser was lost; {pages}. Whether what was being done was done is not known: look at "
        "the page first",
        retryable=True,
        browserId=browser_id,
    )


def is_driver_error(error: BaseException) -> bool:
    """True if an exception is the driver's own, judged by its module: the driver may not be imported yet."""
    return type(error).__module__.startswith("playwright.")


def is_driver_timeout(error: BaseException) -> bool:
    """True if the driver's limit or one of our own was exceeded."""
    return isinstance(error, TimeoutError) or (is_driver_error(error) and type(error).__name__ == "TimeoutError")
