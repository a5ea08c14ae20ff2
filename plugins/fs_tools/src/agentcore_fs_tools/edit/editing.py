"""`edit` by exact texts: replace them one after the other and change nothing else."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated

from agentcore.api import BaseModel, Field, also_called, known_to_models
from agentcore_fs_tools.edit.limits import IsCancelled, never_cancelled, refuse_if_cancelled, refuse_large_result
from agentcore_fs_tools.edit.line_ends import FlatText, find_dominant_end, fit_line_ends
from agentcore_fs_tools.edit.not_found import PLACES_COUNTED, edit_ambiguous, edit_not_found
from agentcore_fs_tools.text.encoding import detect_line_ends

_SLICE_CHARS = 1 << 16
_JOINED_PLACES = 10_000
"""Replacements joined at a time: one object for each of millions would need a hundred times the memory of the text."""


class Edit(BaseModel, defer_build=True, extra="forbid", frozen=True, json_schema_extra=known_to_models()):
    """One replacement."""

    old: Annotated[
        str,
        Field(
            min_length=1,
            description="The exact text to replace, with its indentation.",
            json_schema_extra=known_to_models() | also_called("old_string", "old_str", "old_text", "oldText"),
        ),
    ]
    new: Annotated[
        str,
        Field(
            description="The text to put in its place; empty deletes.",
            json_schema_extra=known_to_models() | also_called("new_string", "new_str", "new_text", "newText"),
        ),
    ]
    all: Annotated[
        bool,
        Field(
            description="Replace every occurrence; else it must occur exactly once.",
            json_schema_extra=known_to_models() | also_called("replace_all", "replaceAll"),
        ),
    ] = False


def apply_edits(
    text: str, edits: Sequence[Edit], shown: str, is_cancelled: IsCancelled = never_cancelled
) -> tuple[str, int]:
    """Apply edits in order, each to the result of the previous ones.

    Returns:
        The new text and the number of replacements.
    Raises:
        ToolError: `edit_not_found` (with the most similar line), `edit_ambiguous` (with the lines), `file_too_large`
            (the result would be), `cancelled`.
    """
    count = 0
    for number, edit in enumerate(edits, 1):
        refuse_if_cancelled(is_cancelled)
        text, places = _apply_edit(text, edit, f"The text of edit {number}", shown, is_cancelled)
        count += places
    return text, count


def _apply_edit(text: str, edit: Edit, what: str, shown: str, is_cancelled: IsCancelled) -> tuple[str, int]:
    has_other_ends = "\n" in edit.old and "\r\n" in text
    replaced = None
    if not has_other_ends or "\r\n" in edit.old:
        replaced = _replace_exactly(text, edit, edit.old, what, shown, is_cancelled=is_cancelled)
    if replaced is None and has_other_ends:  # a `\n` alone must not match the second half of a line end
        old = edit.old.replace("\r\n", "\n")
        # a final `\r` would match the first half of a line end
        if detect_line_ends(text) == "crlf" and not old.endswith("\r"):
            replaced = _replace_exactly(text, edit, old.replace("\n", "\r\n"), what, shown, is_cancelled=is_cancelled)
        else:
            replaced = _replace_across_line_ends(text, edit, old, what, shown, is_cancelled=is_cancelled)
    if replaced is None:
        raise edit_not_found(text, edit.old, what, shown, is_cancelled)
    return replaced


def _replace_exactly(
    text: str, edit: Edit, old: str, what: str, shown: str, *, is_cancelled: IsCancelled
) -> tuple[str, int] | None:
    """Replace all occurrences of `old`; None if there is none.

    All replacements are the same, so the size of the result is known in advance.
    """
    if not edit.all:
        _refuse_ambiguous(text, old, what, shown)
    count = text.count(old)
    if not count:
        return None
    new = fit_line_ends(edit.new, old, find_dominant_end(text))
    refuse_large_result(len(text) + count * (len(new) - len(old)), shown)
    return _replace_in_slices(text, old, new, is_cancelled), count


def _replace_in_slices(text: str, old: str, new: str, is_cancelled: IsCancelled) -> str:
    """Replace in slices: one `str.replace` would hold the GIL for the whole of a large text."""
    size = max(_SLICE_CHARS, 4 * len(old))
    made: list[str] = []
    start = 0
    while start < len(text):
        refuse_if_cancelled(is_cancelled)
        if len(old) == 1:  # cannot span two slices, and this is faster
            made.append(text[start : start + size].replace(old, new))
            start += size
            continue
        *before, rest = text[start : start + size].split(old)
        start += size
        # the end of a slice may be the start of an occurrence
        kept = rest if start >= len(text) else rest[: max(len(rest) - len(old) + 1, 0)]
        start -= len(rest) - len(kept)
        made.append(new.join([*before, kept]))
    return "".join(made)


def _replace_across_line_ends(
    text: str, edit: Edit, old: str, what: str, shown: str, *, is_cancelled: IsCancelled
) -> tuple[str, int] | None:
    """Replace all occurrences of `old`, ignoring differences in line ends; None if there is none."""
    flat = FlatText(text, is_cancelled)
    if not edit.all:
        _refuse_ambiguous(flat.flat, old, what, shown)
    usual_end = find_dominant_end(text)
    joined: list[str] = []
    chunks: list[str] = []
    count = 0
    done = 0
    size = len(text)
    for place in _find_occurrences(flat.flat, old, step=len(old)):
        refuse_if_cancelled(is_cancelled)
        start = flat.to_original_position(place)
        end = flat.to_original_position(place + len(old))
        new = fit_line_ends(edit.new, text[start:end], usual_end, is_cancelled)
        size += len(new) - (end - start)
        refuse_large_result(size - (len(text) - end), shown)  # what follows may still shrink
        chunks += [text[done:start], new]
        done = end
        count += 1
        if count % _JOINED_PLACES == 0:
            joined.append("".join(chunks))
            chunks.clear()
    if not count:
        return None
    refuse_large_result(size, shown)
    return "".join([*joined, *chunks, text[done:]]), count


def _refuse_ambiguous(text: str, old: str, what: str, shown: str) -> None:
    places = list(islice(_find_occurrences(text, old, step=1), PLACES_COUNTED))
    if len(places) > 1:
        raise edit_ambiguous((text.count("\n", 0, start) + 1 for start in places), len(places), what, shown)


def _find_occurrences(text: str, old: str, *, step: int) -> Iterator[int]:
    position = text.find(old)
    while position >= 0:
        yield position
        position = text.find(old, position + step)
