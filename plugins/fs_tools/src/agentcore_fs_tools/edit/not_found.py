"""Errors for an old text that occurs more than once, or not at all, with the most similar lines."""

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

from agentcore.api import ToolError
from agentcore_fs_tools.edit.limits import IsCancelled, refuse_if_cancelled
from agentcore_fs_tools.edit.line_numbers import remove_line_numbers
from agentcore_fs_tools.edit.look_alikes import LookAlike, find_look_alike
from agentcore_fs_tools.text.encoding import show_stray_bytes
from agentcore_fs_tools.text.formatting import cut_line

PLACES_COUNTED = 100
"""Maximum number of counted occurrences of one text."""

_SHOWN_PLACES = 20
_SHOWN_LINES = 12
_SEARCHED_LINES = 50_000
_CLUES_READ = 200  # lines of the old text from which the longest ones are chosen as clues
_COMPARED_LINES = 2_000
_COMPARED_CHARS = 300
_COMPARED_CLOSELY = 50  # each may take 20 ms


def edit_ambiguous(lines: Iterable[int], count: int, what: str, shown: str) -> ToolError:
    """Return the error for a text that occurs several times.

    Args:
        lines: Line numbers of the occurrences, from 1; only the first ones are read.
        count: Number of occurrences, counted up to `PLACES_COUNTED`.
        what: Description of the text for the message.
    """
    found = list(islice(lines, _SHOWN_PLACES))
    places = ", ".join(map(str, found)) + (", …" if count > len(found) else "")
    times = f"at least {count:,}" if count >= PLACES_COUNTED else str(count)
    message = (
        f"{what} occurs {times} times in {shown!r}, in lines {places}. Add lines around it until it is unique, "
        "or set `all` to replace every occurrence."
    )
    return ToolError("edit_ambiguous", message, path=shown, lines=found, count=count)


def edit_not_found(text: str, old: str, what: str, shown: str, is_cancelled: IsCancelled) -> ToolError:
    """Return the error for a text that does not occur, with the most similar lines among the first of the file.

    Raises:
        ToolError: `cancelled`.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n", _SEARCHED_LINES)[:_SEARCHED_LINES]]
    lines = [show_stray_bytes(line) for line in lines]
    look_alike = find_look_alike(lines, old)
    if look_alike is not None:
        return _look_alike_error(look_alike, lines, old, what, shown)
    bare = remove_line_numbers(old)
    if bare is not None and bare in "\n".join(lines):
        return _line_numbers_error(lines, bare, what, shown)
    # only the start of each line is compared: the file may be a single line
    compared = [line[: 4 * _COMPARED_CHARS].strip() for line in lines]
    requested = old.split("\n", _CLUES_READ)[:_CLUES_READ]
    nearest = _find_nearest(compared, [line[: 4 * _COMPARED_CHARS].strip() for line in requested], is_cancelled)
    message = f"{what} does not occur in {shown!r}, and nothing was changed."
    if nearest is None:
        return ToolError("edit_not_found", f"{message} Read the file and copy the text exactly.", path=shown)
    size = min(len(requested), _SHOWN_LINES)
    excerpt = "\n".join(cut_line(line, 300) for line in lines[nearest : nearest + size])
    message += f" The nearest place is line {nearest + 1}; copy exactly what stands there:\n{excerpt}"
    return ToolError("edit_not_found", message, path=shown, line=nearest + 1, nearest=excerpt)


def _line_numbers_error(lines: Sequence[str], bare: str, what: str, shown: str) -> ToolError:
    text = "\n".join(lines)
    line = text.count("\n", 0, text.index(bare))
    excerpt = "\n".join(cut_line(each, 300) for each in lines[line : line + min(bare.count("\n") + 1, _SHOWN_LINES)])
    message = (
        f"{what} does not occur in {shown!r}, and nothing was changed. Its lines begin with line numbers, as "
        f"`read_file` shows them, which are no part of the file: without them it occurs in line {line + 1}. Leave them "
        f"out in the new text, too:\n{excerpt}"
    )
    return ToolError("edit_not_found", message, path=shown, line=line + 1, nearest=excerpt)


def _look_alike_error(found: LookAlike, lines: Sequence[str], old: str, what: str, shown: str) -> ToolError:
    size = min(old.count("\n") + 1, _SHOWN_LINES)
    excerpt = "\n".join(cut_line(line, 300) for line in lines[found.line : found.line + size])
    message = (
        f"{what} does not occur in {shown!r}, and nothing was changed. It only looks like the text in line "
        f"{found.line + 1}: {found.difference}. Give exactly these characters (in JSON also as `\\uXXXX`), or a part "
        f"without them:\n{excerpt}"
    )
    return ToolError(
        "edit_not_found", message, path=shown, line=found.line + 1, nearest=excerpt, difference=found.difference
    )


def _find_nearest(lines: Sequence[str], old: Sequence[str], is_cancelled: IsCancelled) -> int | None:
    """Return the line, from 0, at which the most similar text starts; None if nothing is similar."""
    clues = sorted(enumerate(old), key=lambda clue: -len(clue[1]))[:3]
    for index, clue in clues:
        refuse_if_cancelled(is_cancelled)
        same = [at for at, line in enumerate(lines) if line == clue] if clue else []
        if same:
            best = max(same, key=lambda at: _count_equal_lines(lines, old, at - index))
            return max(best - index, 0)
    index, clue = clues[0]
    best_at = _find_most_similar(lines, clue, is_cancelled) if clue else None
    return None if best_at is None else max(best_at - index, 0)


def _find_most_similar(lines: Sequence[str], clue: str, is_cancelled: IsCancelled) -> int | None:
    """Return the index of the line most similar to `clue`; None if none is similar enough."""
    words = set(clue.split())
    likely = sorted(range(len(lines)), key=lambda at: -len(words.intersection(lines[at].split())))[:_COMPARED_LINES]
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(clue[:_COMPARED_CHARS])
    best_ratio = 0.5
    best_at = None
    closely = 0
    for at in likely:
        refuse_if_cancelled(is_cancelled)
        matcher.set_seq1(lines[at][:_COMPARED_CHARS])
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            closely += 1
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best_ratio = ratio
                best_at = at
        if closely >= _COMPARED_CLOSELY:
            break
    return best_at


def _count_equal_lines(lines: Sequence[str], old: Sequence[str], start: int) -> int:
    return sum(
        0 <= start + step < len(lines) and lines[start + step] == line for step, line in enumerate(old[:_SHOWN_LINES])
    )
