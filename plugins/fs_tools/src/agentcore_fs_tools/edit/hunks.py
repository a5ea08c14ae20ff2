"""`edit` by a unified diff: apply its hunks and change nothing else."""

from collections.abc import Iterator, Sequence
from itertools import islice

from agentcore.api import ToolError
from agentcore_fs_tools.edit.limits import IsCancelled, never_cancelled, refuse_if_cancelled, refuse_large_result
from agentcore_fs_tools.edit.line_ends import find_dominant_end, fit_line_ends
from agentcore_fs_tools.edit.not_found import PLACES_COUNTED, edit_ambiguous, edit_not_found
from agentcore_fs_tools.edit.unified_diff import Hunk

_LINES_LIMIT = 1_000_000
"""Maximum number of lines of a file to apply a diff to: one object per line takes many times the memory of the text."""


def apply_hunks(
    text: str, hunks: Sequence[Hunk], shown: str, is_cancelled: IsCancelled = never_cancelled
) -> tuple[str, int]:
    """Apply the hunks of a diff, each at its stated line or, if its old lines occur only once, where they occur.

    Returns:
        The new text and the number of hunks.
    Raises:
        ToolError: `edit_not_found`, `edit_ambiguous`, `file_too_large` (it has too many lines, or the result would be
            too large), `cancelled`.
    """
    _refuse_many_lines(text, shown)
    refuse_large_result(len(text) + sum(_count_added_chars(hunk) for hunk in hunks), shown)
    lines = text.split("\n")  # a CRLF line keeps its `\r`; the last one is empty if the text ends with a line end
    flat = [line.removesuffix("\r") for line in lines]
    shift = 0
    usual_end = find_dominant_end(text)
    for number, hunk in enumerate(hunks, 1):
        refuse_if_cancelled(is_cancelled)
        expected = None if hunk.start is None else hunk.start - 1 + shift + (not hunk.old)
        at = _find_position(flat, hunk, expected, f"The old text of hunk {number}", shown, is_cancelled=is_cancelled)
        end = at + len(hunk.old)
        fitted = _fit_new_lines(hunk, lines[at:end], usual_end, is_cancelled)
        if end == len(lines) and hunk.old:
            fitted = _fit_at_open_end(hunk, fitted)
        elif end == len(lines) - 1 and lines[-1] == "" and hunk.new_at_end:
            end += 1
            fitted = [*fitted[:-1], fitted[-1].removesuffix("\r")]
        lines[at:end] = fitted
        flat[at:end] = [line.removesuffix("\r") for line in fitted]
        shift += len(hunk.new) - len(hunk.old)
    return "\n".join(lines), len(hunks)


def _refuse_many_lines(text: str, shown: str) -> None:
    count = text.count("\n")
    if count > _LINES_LIMIT:
        message = f"{shown!r} has {count:,} lines, more than {_LINES_LIMIT:,}; use `edits` instead of `diff`."
        raise ToolError("file_too_large", message, path=shown, lines=count)


def _count_added_chars(hunk: Hunk) -> int:
    """Return by how many characters a hunk extends a text whose lines end with `\\n`."""
    return sum(len(line) + 1 for line in hunk.new) - sum(len(line) + 1 for line in hunk.old)


def _find_position(
    lines: list[str], hunk: Hunk, expected: int | None, what: str, shown: str, *, is_cancelled: IsCancelled
) -> int:
    if not hunk.old:
        if expected is not None and 0 <= expected <= len(lines) - (lines[-1] == ""):
            return expected
        raise edit_not_found("\n".join(lines), "", what, shown, is_cancelled)
    size = len(hunk.old)
    if expected is not None and expected >= 0 and lines[expected : expected + size] == hunk.old:
        return expected
    # search in one text: the time grows with the sum of both sizes, not with their product
    text = "\n".join(["", *lines, ""])
    places = list(islice(_find_occurrences(text, "\n".join(["", *hunk.old, ""])), PLACES_COUNTED))
    if not places:
        raise edit_not_found("\n".join(lines), "\n".join(hunk.old), what, shown, is_cancelled)
    if len(places) > 1:
        raise edit_ambiguous((text.count("\n", 0, at) + 1 for at in places), len(places), what, shown)
    return text.count("\n", 0, places[0])


def _find_occurrences(text: str, old: str) -> Iterator[int]:
    position = text.find(old)
    while position >= 0:
        yield position
        position = text.find(old, position + 1)


def _fit_new_lines(hunk: Hunk, old: list[str], end: str, is_cancelled: IsCancelled) -> list[str]:
    """Return the new lines of a hunk with the line ends of the lines that they replace."""
    if not hunk.new:
        return []
    new = "\n".join(hunk.new) + "\n"
    return fit_line_ends(new, "".join(f"{line}\n" for line in old), end, is_cancelled).split("\n")[:-1]


def _fit_at_open_end(hunk: Hunk, fitted: list[str]) -> list[str]:
    """Return new lines that replace a last line without line end; they end with one only if the diff says so."""
    if not fitted:
        return [""]
    if hunk.old_at_end and not hunk.new_at_end:
        return [*fitted, ""]
    return [*fitted[:-1], fitted[-1].removesuffix("\r")]
