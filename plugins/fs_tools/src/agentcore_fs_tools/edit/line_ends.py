"""Convert the line ends of new text to those of the text that it replaces."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator

from agentcore_fs_tools.edit.limits import (
    COMPARED_LINES,
    IsCancelled,
    StoppableMatcher,
    never_cancelled,
    refuse_if_cancelled,
)
from agentcore_fs_tools.text.encoding import detect_line_ends


def fit_line_ends(new: str, old: str, usual_end: str, is_cancelled: IsCancelled = never_cancelled) -> str:
    """Convert the line ends of new text to those of the old text that it replaces.

    Args:
        new: Text whose line ends are `\\n` or `\\r\\n`.
        old: The replaced text. Lines of it that recur in the new text keep their own line ends if both texts are
            short enough to be compared line by line.
        usual_end: The line end to use if `old` has none, from `find_dominant_end`.
    Raises:
        ToolError: `cancelled`.
    """
    if "\n" not in new:
        return new
    ends = detect_line_ends(old)
    if ends == "none":
        return _with_ends(new, usual_end)
    if ends == "mixed":
        return _carry_over_line_ends(_with_ends(new, "\n"), old, usual_end, is_cancelled)
    return _with_ends(new, "\n" if ends == "lf" else "\r\n")


def find_dominant_end(text: str) -> str:
    """Return the most frequent line end of a text; `\\n` if it has none."""
    both = text.count("\r\n")
    return "\r\n" if both > text.count("\n") - both else "\n"


def _with_ends(text: str, end: str) -> str:
    flat = text.replace("\r\n", "\n")
    return flat if end == "\n" else flat.replace("\n", end)


def _carry_over_line_ends(new: str, old: str, end: str, is_cancelled: IsCancelled) -> str:
    if (old.count("\n") + 1) * (new.count("\n") + 1) > COMPARED_LINES:
        return _with_ends(new, end)
    old_lines = old.split("\n")  # a line of CRLF keeps its `\r` at the end
    new_lines = new.split("\n")
    fitted = [line + end.removesuffix("\n") for line in new_lines[:-1]] + new_lines[-1:]
    flat_lines = [line.removesuffix("\r") for line in old_lines]
    matcher = StoppableMatcher(flat_lines, new_lines, is_cancelled, autojunk=False)
    for old_start, new_start, size in matcher.get_matching_blocks():
        for step in range(size):
            if new_start + step < len(new_lines) - 1:
                fitted[new_start + step] = old_lines[old_start + step]
    return "\n".join(fitted)


class FlatText:
    """A text with all line ends as `\\n`, whose positions can be mapped to the original text.

    Attributes:
        flat: The text to search in.
    """

    def __init__(self, text: str, is_cancelled: IsCancelled = never_cancelled) -> None:
        self.flat = text.replace("\r\n", "\n")
        # an array, since there may be millions and an int object takes eight times the memory
        self._ends = array("L", _find_line_ends(text, is_cancelled))

    def to_original_position(self, position: int) -> int:
        """Map a position to the original text; at a line end, to before its `\\r`, never after it."""
        return position + bisect_left(self._ends, position)


def _find_line_ends(text: str, is_cancelled: IsCancelled) -> Iterator[int]:
    """Yield the position of each `\\r\\n`, as it is after all of them are replaced by `\\n`."""
    index = 0
    position = text.find("\r\n")
    while position >= 0:
        if index % 10_000 == 0:
            refuse_if_cancelled(is_cancelled)
        yield position - index
        index += 1
        position = text.find("\r\n", position + 2)
