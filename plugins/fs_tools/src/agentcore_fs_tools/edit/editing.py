"""`edit`: replace exact pieces of a text, or apply a unified diff, changing nothing else."""

import difflib
from collections.abc import Sequence
from typing import Annotated

from agentcore.api import BaseModel, Field, ToolError, known_to_models
from agentcore_fs_tools.edit.line_ends import FlatText, dominant_end, fit_line_ends
from agentcore_fs_tools.edit.unified_diff import Hunk
from agentcore_fs_tools.text.presenting import cut_line

_SHOWN_PLACES = 20
_SHOWN_LINES = 12
_SEARCHED_LINES = 50_000
_COMPARED_LINES = 2_000


class Edit(BaseModel, extra="forbid", frozen=True, json_schema_extra=known_to_models()):
    """One replacement."""

    old: Annotated[
        str,
        Field(
            min_length=1,
            description="The exact text to replace, with its indentation.",
            json_schema_extra=known_to_models(),
        ),
    ]
    new: Annotated[
        str, Field(description="The text to put in its place; empty deletes.", json_schema_extra=known_to_models())
    ]
    all: Annotated[
        bool,
        Field(
            description="Replace every occurrence; else it must occur exactly once.",
            json_schema_extra=known_to_models(),
        ),
    ] = False


def apply_edits(text: str, edits: Sequence[Edit], shown: str) -> tuple[str, int]:
    """Replace one after the other, each in what those before it left.

    Returns:
        The new text, and how many places were replaced.
    Raises:
        ToolError: `edit_not_found` (with the nearest place), `edit_ambiguous` (with the lines).
    """
    count = 0
    for number, edit in enumerate(edits, 1):
        spans = _spans(text, edit, number, shown)
        pieces, done, usual_end = [], 0, dominant_end(text)
        for start, end in spans:
            pieces += [text[done:start], fit_line_ends(edit.new, text[start:end], usual_end)]
            done = end
        text = "".join([*pieces, text[done:]])
        count += len(spans)
    return text, count


def apply_hunks(text: str, hunks: Sequence[Hunk], shown: str) -> tuple[str, int]:
    """Apply the hunks of a diff, each where it says or, when its lines occur only once, where they are.

    Returns:
        The new text, and the number of hunks.
    Raises:
        ToolError: `edit_not_found`, `edit_ambiguous`.
    """
    lines = text.split("\n")  # a line of CRLF keeps its `\r`; the last one is empty where the text ends with a line end
    flat = [line.removesuffix("\r") for line in lines]
    shift, usual_end = 0, dominant_end(text)
    for number, hunk in enumerate(hunks, 1):
        at = _place_of(flat, hunk, hunk.start - 1 + shift + (not hunk.old), number, shown)
        end = at + len(hunk.old)
        fitted = _fitted(hunk, lines[at:end], usual_end)
        if end == len(lines) and hunk.old:
            fitted = _at_open_end(hunk, fitted)
        elif end == len(lines) - 1 and lines[-1] == "" and hunk.new_at_end:
            end += 1
            fitted = [*fitted[:-1], fitted[-1].removesuffix("\r")]
        lines[at:end] = fitted
        flat[at:end] = [line.removesuffix("\r") for line in fitted]
        shift += len(hunk.new) - len(hunk.old)
    return "\n".join(lines), len(hunks)


def _spans(text: str, edit: Edit, number: int, shown: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    has_other_ends = "\n" in edit.old and "\r\n" in text
    if not has_other_ends or "\r\n" in edit.old:
        spans = [(start, start + len(edit.old)) for start in _occurrences(text, edit.old, overlapping=not edit.all)]
    if not spans and has_other_ends:  # a `\n` alone must not match the second half of a line end
        flat, old = FlatText(text), edit.old.replace("\r\n", "\n")
        found = _occurrences(flat.flat, old, overlapping=not edit.all)
        spans = [(flat.original(start), flat.original(start + len(old))) for start in found]
    if not spans:
        raise _not_found(
            text.replace("\r\n", "\n").split("\n"), edit.old.split("\n"), f"The text of edit {number}", shown
        )
    if len(spans) > 1 and not edit.all:
        lines = [text.count("\n", 0, start) + 1 for start, _ in spans[:_SHOWN_PLACES]]
        raise _ambiguous(lines, len(spans), f"The text of edit {number}", shown)
    return spans


def _occurrences(text: str, old: str, *, overlapping: bool) -> list[int]:
    found = []
    position = text.find(old)
    while position >= 0:
        found.append(position)
        position = text.find(old, position + (1 if overlapping else len(old)))
    return found


def _place_of(lines: list[str], hunk: Hunk, expected: int, number: int, shown: str) -> int:
    what = f"The old text of hunk {number}"
    if not hunk.old:
        if 0 <= expected <= len(lines) - (lines[-1] == ""):
            return expected
        raise _not_found(lines, [""], what, shown)
    size = len(hunk.old)
    if expected >= 0 and lines[expected : expected + size] == hunk.old:
        return expected
    first = hunk.old[0]
    places = [at for at, line in enumerate(lines) if line == first and lines[at : at + size] == hunk.old]
    if not places:
        raise _not_found(lines, hunk.old, what, shown)
    if len(places) > 1:
        raise _ambiguous([at + 1 for at in places[:_SHOWN_PLACES]], len(places), what, shown)
    return places[0]


def _fitted(hunk: Hunk, old: list[str], end: str) -> list[str]:
    """The new lines of a hunk with the line ends of the lines that they replace."""
    if not hunk.new:
        return []
    return fit_line_ends("\n".join(hunk.new) + "\n", "".join(f"{line}\n" for line in old), end).split("\n")[:-1]


def _at_open_end(hunk: Hunk, fitted: list[str]) -> list[str]:
    """New lines in place of a last line that has no line end: the last of them has one only where the diff says so."""
    if not fitted:
        return [""]
    if hunk.old_at_end and not hunk.new_at_end:
        return [*fitted, ""]
    return [*fitted[:-1], fitted[-1].removesuffix("\r")]


def _ambiguous(lines: Sequence[int], count: int, what: str, shown: str) -> ToolError:
    places = ", ".join(map(str, lines)) + (", …" if count > len(lines) else "")
    message = (
        f"{what} occurs {count} times in {shown!r}, in lines {places}. Add lines around it until it is unique, "
        "or set `all` to replace every occurrence."
    )
    return ToolError("edit_ambiguous", message, path=shown, lines=list(lines), count=count)


def _not_found(lines: Sequence[str], old: Sequence[str], what: str, shown: str) -> ToolError:
    nearest = _nearest(lines[:_SEARCHED_LINES], old)
    message = f"{what} does not occur in {shown!r}, and nothing was changed."
    if nearest is None:
        return ToolError("edit_not_found", f"{message} Read the file and copy the text exactly.", path=shown)
    size = min(max(len(old), 1), _SHOWN_LINES)
    excerpt = "\n".join(cut_line(line, 300) for line in lines[nearest : nearest + size])
    message += f" The nearest place is line {nearest + 1}; copy exactly what stands there:\n{excerpt}"
    return ToolError("edit_not_found", message, path=shown, line=nearest + 1, nearest=excerpt)


def _nearest(lines: Sequence[str], old: Sequence[str]) -> int | None:
    """The line, from 0, at which the text that resembles the old one begins."""
    clues = sorted(enumerate(old), key=lambda clue: -len(clue[1].strip()))[:3]
    for index, clue in clues:
        same = [at for at, line in enumerate(lines) if line.strip() == clue.strip()] if clue.strip() else []
        if same:
            best = max(same, key=lambda at: _likeness(lines, old, at - index))
            return max(best - index, 0)
    index, clue = clues[0] if clues else (0, "")
    if not clue.strip():
        return None
    words = set(clue.split())
    likely = sorted(range(len(lines)), key=lambda at: -len(words.intersection(lines[at].split())))[:_COMPARED_LINES]
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(clue.strip()[:300])
    best_ratio, best_at = 0.5, None
    for at in likely:
        matcher.set_seq1(lines[at].strip()[:300])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best_ratio, best_at = ratio, at
    return None if best_at is None else max(best_at - index, 0)


def _likeness(lines: Sequence[str], old: Sequence[str], start: int) -> int:
    return sum(
        0 <= start + step < len(lines) and lines[start + step].strip() == line.strip()
        for step, line in enumerate(old[:_SHOWN_LINES])
    )
