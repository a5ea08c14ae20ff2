"""Snapshots: the accessibility tree of a page as short lines, with references that acting tools accept."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.elements import Target, on_element
from agentcore_chrome.failures import headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

SNAPSHOT_BYTES = 18_000
"""Bound of a snapshot; what comes after is left out and said."""

HIDDEN = "•••"
_PASSWORDS = "fields => fields.map(field => field.value).filter(Boolean)"
_LINE = re.compile(r"^(?P<indent> *)- (?P<rest>.*)$")
_REF = re.compile(r" \[ref=((?:f\d+)?e\d+)\]")
_QUIET_ROLES = ("cell", "row", "rowgroup", "gridcell", "generic", "paragraph", "text", "listitem", "list", "table")
_NAMED_ROW = re.compile(r'^(row) "(?:[^"\\]|\\.)*"')
_WRAPPERS = frozenset(("- generic:", "- rowgroup:", "- cell:", "- gridcell:"))
_CELL = re.compile(r'^ *- (?:cell|gridcell|columnheader|rowheader):?( "(?:[^"\\]|\\.)*")$')
_FIELD = re.compile(r"^(?P<head>(?:textbox|searchbox|combobox|spinbutton)\b.*?): (?P<value>.*)$")


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
        text, secrets = await _of_page(tab, depth, timeout_ms)
    else:

        async def of_part(locator: "Locator") -> tuple[str, set[str]]:
            secrets = await _secrets(tab.page)
            return await locator.aria_snapshot(mode="ai", depth=depth, timeout=timeout_ms), secrets

        text, secrets = await on_element(tab, Target(selector), timeout_ms, of_part, acts=False)
    lines = compact(_hide(text.splitlines(), secrets))
    return _within(found(lines, pattern) if pattern else lines)


async def read_lines(page: "Page", timeout_ms: float) -> list[str]:
    """The lines of a whole page, without waiting for a turn; for telling what changed."""
    secrets = await _secrets(page)
    text = await page.aria_snapshot(mode="ai", timeout=timeout_ms)
    return compact(_hide(text.splitlines(), secrets))


def compact(lines: list[str]) -> list[str]:
    """Leave out what says nothing: references of plain text and cells, names of rows that their cells repeat."""
    return _merged_rows(_without_wrappers([_compact_line(line) for line in lines]))


def found(lines: list[str], pattern: re.Pattern[str]) -> list[str]:
    """The lines that match, each below the lines that lead to it."""
    kept: list[str] = []
    path: list[tuple[int, str, bool]] = []
    for line in lines:
        indent = _indent(line)
        while path and path[-1][0] >= indent:
            path.pop()
        is_match = bool(pattern.search(line))
        if is_match:
            kept += [above for _, above, is_kept in path if not is_kept]
            path = [(level, above, True) for level, above, _ in path]
            kept.append(line)
        path.append((indent, line, is_match))
    return kept


def changes(before: list[str], after: list[str]) -> list[str]:
    """The lines that came (`+`) and went (`-`)."""
    old, new = set(before), set(after)
    gone = [f"- {line.strip()}" for line in before if line not in new]
    come = [f"+ {line.strip()}" for line in after if line not in old]
    return [*gone, *come]


async def _of_page(tab: Tab, depth: int | None, timeout_ms: int) -> tuple[str, set[str]]:
    async def read() -> tuple[str, set[str]]:
        secrets = await _secrets(tab.page)
        return await tab.page.aria_snapshot(mode="ai", depth=depth, timeout=timeout_ms), secrets

    try:
        return await tab.act(read, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        said = f"the page did not answer within {timeout_ms} ms" if is_driver_timeout(exc) else headline(exc)
        raise ToolError("snapshot_failed", f"no snapshot: {said}", retryable=True, tabId=tab.tab_id) from exc


async def _secrets(page: "Page") -> set[str]:
    """What stands in password fields now, in all frames, as the tree would show it."""
    values: set[str] = set()
    for frame in page.frames:
        try:
            told = await frame.locator("input[type=password i]").evaluate_all(_PASSWORDS)
        except Exception as exc:
            if is_driver_error(exc) and "detached" in str(exc).lower():
                continue
            raise
        values.update(" ".join(value.split()) for value in told)
    return values


def _hide(lines: list[str], secrets: set[str]) -> list[str]:
    return [_hide_value(line, secrets) for line in lines] if secrets else lines


def _hide_value(line: str, secrets: set[str]) -> str:
    stripped = line.lstrip()
    field = _FIELD.match(stripped.removeprefix("- "))
    if field is None:
        return line
    value = field["value"]
    if value.startswith('"'):
        try:
            value = json.loads(value)
        except ValueError:
            return line
    if " ".join(str(value).split()) not in secrets:
        return line
    return f"{line[: len(line) - len(stripped)]}- {field['head']}: {HIDDEN}"


def _compact_line(line: str) -> str:
    parts = _LINE.match(line)
    if parts is None:
        return line
    rest = parts["rest"]
    role = rest.split(" ", 1)[0].rstrip(":")
    if role in _QUIET_ROLES and "[cursor=pointer]" not in rest:
        rest = _REF.sub("", rest)
    if rest.endswith(":"):
        rest = _NAMED_ROW.sub(r"\1", rest)
    # half the indentation says as much
    return f"{parts['indent'][: len(parts['indent']) // 2]}- {rest.replace(' [cursor=pointer]', '')}"


def _without_wrappers(lines: list[str]) -> list[str]:
    """Leave out lines that only hold others, and move these up."""
    kept: list[str] = []
    left_out: list[int] = []
    for line in lines:
        indent = _indent(line)
        while left_out and left_out[-1] >= indent:
            left_out.pop()
        if line.strip() in _WRAPPERS:
            left_out.append(indent)
        else:
            kept.append(line[len(left_out) :])
    return kept


def _merged_rows(lines: list[str]) -> list[str]:
    """Put the first plain cells of a row into its line: `- row: Ada | 36`."""
    merged: list[str] = []
    for number, line in enumerate(lines):
        cell = _CELL.match(line)
        is_leaf = number + 1 >= len(lines) or _indent(lines[number + 1]) <= _indent(line)
        row = merged[-1] if merged else ""
        if cell and is_leaf and row.lstrip().startswith("- row:") and _indent(row) == _indent(line) - 1:
            merged[-1] = f"{row} |{cell[1]}" if row.strip() != "- row:" else f"{row}{cell[1]}"
        else:
            merged.append(line)
    return merged


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


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
