"""The lines of an accessibility tree, made short."""

import re
from typing import TYPE_CHECKING

from agentcore_chrome.tab.refs import Refs

if TYPE_CHECKING:
    from playwright.async_api import Page

_LINE = re.compile(r"^(?P<indent> *)- (?P<rest>.*)$")
_REF = re.compile(r" \[ref=((?:f\d+)?e\d+)\]")
_QUIET_ROLES = ("cell", "row", "rowgroup", "gridcell", "generic", "paragraph", "text", "listitem", "list", "table")
_NAMED_ROW = re.compile(r'^(row) "(?:[^"\\]|\\.)*"')
_WRAPPERS = frozenset(("- generic:", "- rowgroup:", "- cell:", "- gridcell:"))
_CELL = re.compile(r'^ *- (?:cell|gridcell|columnheader|rowheader):?( "(?:[^"\\]|\\.)*")$')


async def read_lines(page: "Page", refs: Refs, timeout_ms: float) -> list[str]:
    """The lines of a whole page, without waiting for a turn; for telling what changed."""
    text = await page.aria_snapshot(mode="ai", timeout=timeout_ms)
    return refs.shorten(compact(text.splitlines()))


def compact(lines: list[str]) -> list[str]:
    """Leave out what says nothing: references of plain text and cells, names of rows that their cells repeat."""
    return _merged_rows(_without_wrappers([_compact_line(line) for line in lines]))


def changes(before: list[str], after: list[str]) -> list[str]:
    """The lines that came (`+`) and went (`-`)."""
    old, new = set(before), set(after)
    gone = [f"- {line.strip()}" for line in before if line not in new]
    come = [f"+ {line.strip()}" for line in after if line not in old]
    return [*gone, *come]


def is_other_page(before: str, after: str) -> bool:
    """Whether two addresses are of different pages, not of places in one."""
    return before.partition("#")[0] != after.partition("#")[0]


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
        indent = indent_of(line)
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
        is_leaf = number + 1 >= len(lines) or indent_of(lines[number + 1]) <= indent_of(line)
        row = merged[-1] if merged else ""
        if cell and is_leaf and row.lstrip().startswith("- row:") and indent_of(row) == indent_of(line) - 1:
            merged[-1] = f"{row} |{cell[1]}" if row.strip() != "- row:" else f"{row}{cell[1]}"
        else:
            merged.append(line)
    return merged


def indent_of(line: str) -> int:
    """How deep a line stands."""
    return len(line) - len(line.lstrip())
