"""Snapshots: a page as short lines, with references that other tools accept."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import extract_headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, read_element
from agentcore_chrome.tab.page_tree import Line, PageTree, read_page, read_part
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

SNAPSHOT_BYTES = 18_000
"""Limit of a snapshot; lines beyond it are counted, and can be requested with an offset."""

NOTHING_SHOWN = "The page shows nothing; if it is still being made, wait for a text of it with browser_wait_for."

_ROWS = frozenset(("row",))
_PARAGRAPHS = frozenset(("paragraph", "listitem", "definition", "term", "cell", "gridcell", "heading"))
_WHOLE_LINES = 30

_TOP_SHARE = 0.2
"""Share of the limit for the top of a page that is scrolled further down."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A tree, or a part of it, as text.

    Args:
        tree: The tree that was read.
        text: The lines that fit, with notices of those that do not.
        left_out: How many lines do not fit.
    """

    tree: PageTree
    text: str
    left_out: int


async def take_snapshot(
    tab: Tab,
    *,
    selector: str | None = None,
    depth: int | None = None,
    find: str | None = None,
    offset: int | None = None,
    timeout_ms: int = 30_000,
) -> Snapshot:
    """Take a snapshot of a page or of a part of it.

    Args:
        selector: A reference or selector of the part.
        depth: How many levels.
        find: Only lines with this text, or that match it as `/regular expression/`, with the lines above them.
        offset: How many lines to skip; None: start with the visible part if not everything fits.
    Raises:
        ToolError: `element_not_found`, `stale_ref`, `invalid_arguments`, `snapshot_failed`.
    """
    pattern = _compile_pattern(find)
    if selector is None:
        tree = await _read_whole_page(tab, depth, timeout_ms)
    else:
        target = Target(selector)

        async def of_part(locator: "Locator") -> PageTree:
            frames = tab.refs.get_frames(target.ref)
            return await read_part(tab.page, tab.refs, locator, frames, timeout_ms, deepest=depth)

        tree = await read_element(tab, target, timeout_ms, of_part)
    lines = filter_lines(tree.lines, pattern) if pattern else tree.lines
    text, left_out = shorten_lines(lines, in_view=None if pattern else tree.in_view, offset=offset)
    tab.refs.mark_reported(text)
    return Snapshot(tree, text, left_out)


def describe_pdf(tab: Tab) -> str:
    """Say that a page is a PDF, and how it is read."""
    return f"It is a PDF: {tab.advice.text} gives its text, and {tab.advice.picture} shows what is in view."


def snapshot_of_pdf(text: str, tree: PageTree, *, find: str | None, offset: int | None) -> Snapshot:
    """Return the lines of a PDF's text as a snapshot of its page, with the options of `take_snapshot`.

    Raises:
        ToolError: `invalid_arguments`.
    """
    pattern = _compile_pattern(find)
    lines = [Line(0, f"pdf{number}", line, "") for number, line in enumerate(text.splitlines()) if line]
    shown, left_out = shorten_lines(filter_lines(lines, pattern) if pattern else lines, offset=offset)
    return Snapshot(tree, shown, left_out)


def filter_lines(lines: Sequence[Line], pattern: re.Pattern[str]) -> list[Line]:
    """Return the matching lines, each with the rest of its row or paragraph, below its ancestors."""
    requested: set[int] = set()
    path: list[int] = []
    for number, line in enumerate(lines):
        del path[line.depth :]
        path.append(number)
        if pattern.search(str(line)):
            requested |= {*path, *_find_enclosing_block(lines, path)}
    return [line for number, line in enumerate(lines) if number in requested]


def lines_with(lines: Sequence[Line], text: str) -> list[Line]:
    """Return the lines that contain a text, as `filter_lines` does."""
    return filter_lines(lines, re.compile(re.escape(text), re.IGNORECASE))


def _find_enclosing_block(lines: Sequence[Line], path: Sequence[int]) -> range:
    """Return the lines of the row, or else of the paragraph, that contains a line; none if that is long."""
    for kinds in (_ROWS, _PARAGRAPHS):
        start = next((number for number in reversed(path) if lines[number].head.partition(" ")[0] in kinds), None)
        if start is not None:
            below = range(start + 1, min(start + 1 + _WHOLE_LINES, len(lines)))
            end = next((number for number in below if lines[number].depth <= lines[start].depth), None)
            if end is not None or below.stop == len(lines):
                return range(start, end or below.stop)
    return range(0)


def shorten_lines(lines: Sequence[Line], *, in_view: str | None = None, offset: int | None = None) -> tuple[str, int]:
    """Return the lines that fit, as text, and how many do not.

    Args:
        in_view: The key of the line to continue with after the top, if not everything fits.
        offset: How many lines to skip at the beginning.
    """
    texts = [str(line) for line in lines]
    if offset is None and sum(len(text.encode()) + 1 for text in texts) <= SNAPSHOT_BYTES:
        return "\n".join(texts), 0
    start = min(offset or 0, len(lines))
    top: list[str] = []
    if offset is None and in_view is not None:
        start = next((number for number, line in enumerate(lines) if line.key == in_view), 0)
        top = _fit_lines(texts[:start], int(SNAPSHOT_BYTES * _TOP_SHARE))
    path = _find_ancestors(lines, start, len(top))
    notice = (
        [f"[lines {len(top)} to {start - 1} are left out; offset={len(top)} shows them]"] if start > len(top) else []
    )
    left = SNAPSHOT_BYTES - sum(len(text.encode()) + 1 for text in (*top, *notice, *path))
    shown = _fit_lines(texts[start:], left)
    rest = len(texts) - start - len(shown)
    if rest:
        end = start + len(shown)
        how = "or narrow it with `find`, `depth`, or `selector` (a reference or a CSS selector) of a part"
        shown.append(f"[{rest} more lines; offset={end} shows what comes next, {how}]")
    return "\n".join((*top, *notice, *path, *shown)), rest + start - len(top) - len(path)


def _fit_lines(texts: Sequence[str], limit_bytes: int) -> list[str]:
    size = 0
    for number, text in enumerate(texts):
        size += len(text.encode()) + 1
        if size > limit_bytes:
            return list(texts[:number])
    return list(texts)


def _find_ancestors(lines: Sequence[Line], start: int, shown: int) -> list[str]:
    """Return the ancestors of a line, except those that are shown anyway."""
    path: list[str] = []
    depth = lines[start].depth if start < len(lines) else 0
    for number in range(start - 1, shown - 1, -1):
        if lines[number].depth < depth:
            depth = lines[number].depth
            path.insert(0, str(lines[number]))
    return path


async def _read_whole_page(tab: Tab, depth: int | None, timeout_ms: int) -> PageTree:
    async def read() -> PageTree:
        return await read_page(tab.page, tab.refs, await tab.get_session(), timeout_ms, deepest=depth)

    try:
        return await tab.run_action(read, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        if is_driver_timeout(exc):
            tab.stop_soon()  # as after any other timeout, so that the page answers the next call
        reason = f"the page did not answer within {timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise ToolError("snapshot_failed", f"no snapshot: {reason}", retryable=True, tabId=tab.tab_id) from exc


def _compile_pattern(find: str | None) -> re.Pattern[str] | None:
    if find is None:
        return None
    if len(find) > 2 and find.startswith("/") and find.endswith("/"):  # noqa: PLR2004 - the two slashes
        try:
            return re.compile(find[1:-1], re.IGNORECASE)
        except re.error as exc:
            raise ToolError("invalid_arguments", f"cannot read {find!r} as a regular expression: {exc}") from exc
    return re.compile(re.escape(find), re.IGNORECASE)
