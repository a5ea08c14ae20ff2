"""Line numbers of `read_file` that a model has copied into a text: they belong to no file."""

import re

from agentcore.api import ToolError

_LINES_READ = 1_000
_SHOWN_NUMBER = re.compile(r"(?=[ \d]{6}\t) *(\d+)\t")
"""A number as `read_file` shows it: to the right in six columns, and a tab."""

_COPIED_NUMBER = re.compile(r"\s*(\d+)(?:\t|→|\| ?|: ?)")
"""A number in any of the usual spellings."""


def refuse_line_numbers(new: str, old: str = "") -> None:
    """Refuse a new text each line of which begins with a line number as `read_file` shows it.

    Args:
        new: The text to write.
        old: The text that it replaces; if that has such numbers too, they are part of the file.
    Raises:
        ToolError: `invalid_arguments`.
    """
    if _is_numbered(new, _SHOWN_NUMBER) and not _is_numbered(old, _SHOWN_NUMBER):
        message = (
            "Each line of the new text begins with a line number as `read_file` shows it, which is no part of the "
            "file; nothing was changed. Give the text without the numbers and the tab behind each."
        )
        raise ToolError("invalid_arguments", message)


def remove_line_numbers(text: str) -> str | None:
    """Return a text without the ascending numbers at the start of its lines; None: it has none."""
    if not _is_numbered(text, _COPIED_NUMBER):
        return None
    return "\n".join(_COPIED_NUMBER.sub("", line, count=1) for line in text.split("\n"))


def _is_numbered(text: str, pattern: re.Pattern[str]) -> bool:
    lines = text.removesuffix("\n").split("\n", _LINES_READ)[:_LINES_READ]
    found = [pattern.match(line) for line in lines]
    numbers = [int(match[1]) for match in found if match is not None]
    return len(numbers) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(lines)))
