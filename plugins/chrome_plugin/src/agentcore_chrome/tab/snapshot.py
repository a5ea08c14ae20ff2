"""Snapshots: the accessibility tree of a page as short lines, with references that acting tools accept."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tab.tree_lines import compact, indent_of

if TYPE_CHECKING:
    from playwright.async_api import Locator

SNAPSHOT_BYTES = 18_000
"""Bound of a snapshot; what comes after is left out, and counted."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The lines of a snapshot, and how many were left out."""

    lines: tuple[str, ...]
    left_out: int = 0

    def __str__(self) -> str:
        text = "\n".join(self.lines)
        if self.left_out:
            text += (
                f"\n[{self.left_out} more lines; narrow it with `find`, `depth`, or `selector` (a reference or a CSS "
                "selector) of a part]"
            )
        return text


async def take_snapshot(
    tab: Tab,
    *,
    selector: str | None = None,
    depth: int | None = None,
    find: str | None = None,
    timeout_ms: int = 30_000,
) -> Snapshot:
    """Take a snapshot of a page or of a part of it.

    Args:
        selector: A reference or selector of the part.
        depth: How many levels.
        find: Only lines with this text, or that match it as `/regular expression/`, with the lines above them.
    Raises:
        ToolError: `element_not_found`, `stale_ref`, `invalid_arguments`, `snapshot_failed`.
    """
    pattern = _pattern(find)
    if selector is None:
        text = await _of_page(tab, depth, timeout_ms)
    else:

        async def of_part(locator: "Locator") -> str:
            return await locator.aria_snapshot(mode="ai", depth=depth, timeout=timeout_ms)

        text = await on_element(tab, Target(selector), timeout_ms, of_part, acts=False)
    lines = tab.refs.shorten(compact(text.splitlines()))
    return _within(found(lines, pattern) if pattern else lines)


def found(lines: list[str], pattern: re.Pattern[str]) -> list[str]:
    """The lines that match, each below the lines that lead to it."""
    kept: list[str] = []
    path: list[tuple[int, str, bool]] = []
    for line in lines:
        indent = indent_of(line)
        while path and path[-1][0] >= indent:
            path.pop()
        is_match = bool(pattern.search(line))
        if is_match:
            kept += [above for _, above, is_kept in path if not is_kept]
            path = [(level, above, True) for level, above, _ in path]
            kept.append(line)
        path.append((indent, line, is_match))
    return kept


async def _of_page(tab: Tab, depth: int | None, timeout_ms: int) -> str:
    async def read() -> str:
        return await tab.page.aria_snapshot(mode="ai", depth=depth, timeout=timeout_ms)

    try:
        return await tab.act(read, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        if is_driver_timeout(exc):
            tab.stop_soon()  # as where any other time is up: the next call finds a page that answers
        reason = f"the page did not answer within {timeout_ms} ms" if is_driver_timeout(exc) else headline(exc)
        raise ToolError("snapshot_failed", f"no snapshot: {reason}", retryable=True, tabId=tab.tab_id) from exc


def _within(lines: list[str]) -> Snapshot:
    size = 0
    for number, line in enumerate(lines):
        size += len(line.encode()) + 1
        if size > SNAPSHOT_BYTES:
            return Snapshot(tuple(lines[:number]), len(lines) - number)
    return Snapshot(tuple(lines))


def _pattern(find: str | None) -> re.Pattern[str] | None:
    if find is None:
        return None
    if len(find) > 2 and find.startswith("/") and find.endswith("/"):  # noqa: PLR2004 - the two slashes
        try:
            return re.compile(find[1:-1], re.IGNORECASE)
        except re.error as exc:
            raise ToolError("invalid_arguments", f"cannot read {find!r} as a regular expression: {exc}") from exc
    return re.compile(re.escape(find), re.IGNORECASE)
