"""Reports on what an action changed in the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from agentcore_chrome.tab.changes import describe_changes
from agentcore_chrome.tab.page_tree import PageTree
from agentcore_chrome.tab.snapshot import NOTHING_SHOWN, SNAPSHOT_BYTES, lines_with, shorten_lines

_BRIEF_CHARS = 2_000
"""Limit of a brief report, for tools whose own output matters more than the page."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Request for a brief report: what changed, shortened, and nothing if nothing did.

    Args:
        sought: The text that was searched for; its lines are reported if not everything fits.
    """

    sought: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """A report on a page: as text, as lines, and whether it was cut."""

    text: str
    changes: list[str]
    is_cut: bool = False


def build_change_report(before: PageTree | None, after: PageTree, brief: Brief | None) -> ChangeReport:
    """Report what changed, or the whole page if that is shorter or it is another page."""
    changed = describe_changes(before, after) if before is not None and before.mark == after.mark else None
    if brief is not None:
        return _report_briefly(changed, after, brief)
    whole, left_out = shorten_lines(after.lines, in_view=after.in_view)
    if changed is not None:
        text = "\n".join(changed)
        if len(text) < len(whole) and len(text.encode()) <= SNAPSHOT_BYTES:
            return ChangeReport(f"{_CHANGED}\n{text}" if changed else "Nothing changed.", changed)
    changes = [f"+ {line}" for line in whole.split("\n")]
    return ChangeReport(
        f"The page now, {after.url} – {after.title}:\n{whole or NOTHING_SHOWN}", changes, bool(left_out)
    )


_CHANGED = "What changed (+ new, ~ now, > moved, - gone):"


def _report_briefly(changed: Sequence[str] | None, after: PageTree, brief: Brief) -> ChangeReport:
    if changed is not None and not changed:
        return ChangeReport("", [])
    is_same = changed is not None
    head = _CHANGED if is_same else f"The page now, {after.url} – {after.title}:"
    lines = list(changed) if changed is not None else [str(line) for line in after.lines]
    shown = _fit_lines(lines)
    rest = len(lines) - len(shown)
    if not rest:
        return ChangeReport("\n".join([head, *lines]), lines if is_same else [f"+ {line}" for line in lines])
    found = lines_with(after.lines, brief.sought) if brief.sought is not None else []
    if found:
        return ChangeReport("\n".join(["Where it is:", *_fit_lines([str(line) for line in found])]), shown)
    more = f"[{rest} more lines; browser_snapshot shows the page]"
    return ChangeReport("\n".join([head, *shown, more]), shown if is_same else [f"+ {line}" for line in shown])


def _fit_lines(lines: Sequence[str]) -> list[str]:
    left = _BRIEF_CHARS
    fitting = 0
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        fitting += 1
    return list(lines[:fitting])
