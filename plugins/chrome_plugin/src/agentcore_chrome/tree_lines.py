"""The lines of an accessibility tree: made short, without the values of password fields."""

import json
import re
from typing import TYPE_CHECKING

from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.refs import Refs

if TYPE_CHECKING:
    from playwright.async_api import Page

HIDDEN = "•••"
_PASSWORDS = "fields => fields.map(field => field.value).filter(Boolean)"
_LINE = re.compile(r"^(?P<indent> *)- (?P<rest>.*)$")
_REF = re.compile(r" \[ref=((?:f\d+)?e\d+)\]")
_QUIET_ROLES = ("cell", "row", "rowgroup", "gridcell", "generic", "paragraph", "text", "listitem", "list", "table")
_NAMED_ROW = re.compile(r'^(row) "(?:[^"\\]|\\.)*"')
_WRAPPERS = frozenset(("- generic:", "- rowgroup:", "- cell:", "- gridcell:"))
_CELL = re.compile(r'^ *- (?:cell|gridcell|columnheader|rowheader):?( "(?:[^"\\]|\\.)*")$')
_FIELD = re.compile(r"^(?P<head>(?:textbox|searchbox|combobox|spinbutton)\b.*?): (?P<value>.*)$")


async def read_lines(page: "Page", refs: Refs, timeout_ms: float) -> list[str]:
    """The lines of a whole page, without waiting for a turn; for telling what changed."""
    secrets = await secrets_of(page)
    text = await page.aria_snapshot(mode="ai", timeout=timeout_ms)
    return refs.shorten(compact(hide(text.splitlines(), secrets)))


def compact(lines: list[str]) -> list[str]:
    """Leave out what says nothing: references of plain text and cells, names of rows that their cells repeat."""
    return _merged_rows(_without_wrappers([_compact_line(line) for line in lines]))


def changes(before: list[str], after: list[str]) -> list[str]:
    """The lines that came (`+`) and went (`-`)."""
    old, new = set(before), set(after)
    gone = [f"- {line.strip()}" for line in before if line not in new]
    come = [f"+ {line.strip()}" for line in after if line not in old]
    return [*gone, *come]


async def secrets_of(page: "Page") -> set[str]:
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


def hide(lines: list[str], secrets: set[str]) -> list[str]:
    """Put dots in the place of these values."""
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
