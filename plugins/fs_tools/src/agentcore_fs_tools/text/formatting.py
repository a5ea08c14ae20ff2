"""Sizes, counts and truncated lines for display."""

from collections.abc import Sequence
from itertools import accumulate, takewhile

_KIB = 1024
_AROUND_CHARS = 500  # reserved for the text above and below truncated lines
_AROUND_SHARE = 2  # at most one part in so many of a model's limit is reserved for it

LINE_CHARS = 2_000
"""Longer lines are truncated where lines are shown with numbers."""


def show_size(size_bytes: int) -> str:
    """Format a size for display: `512 B`, `1.5 KB`, `3.0 MB`; a KB is 1,024 bytes."""
    if size_bytes < _KIB:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("KB", "MB", "GB", "TB"):
        size /= _KIB
        if round(size, 1) < _KIB or unit == "TB":
            break
    return f"{size:.1f} {unit}"


def show_count(count: int, noun: str, plural: str | None = None) -> str:
    """Format a count with its noun: `1 line`, `2,000 lines`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def cut_line(line: str, limit_chars: int = LINE_CHARS) -> str:
    """Return a line without its line end; if it is too long, truncated with a mark that says so."""
    line = line.rstrip("\r\n")
    if len(line) <= limit_chars:
        return line
    return f"{line[:limit_chars]}… ({len(line) - limit_chars:,} more characters)"


def lines_chars(limit_chars: int, around_chars: int = _AROUND_CHARS) -> int:
    """Return how much of a model's limit is for lines, without the text above and below them."""
    return limit_chars - min(around_chars, limit_chars // _AROUND_SHARE)


def fit_lines(lines: Sequence[str], limit_chars: int | None) -> list[str]:
    """Return as many of the first lines as fit into a model's limit; all of them if there is no limit."""
    if limit_chars is None:
        return list(lines)
    room = lines_chars(limit_chars)
    sizes = accumulate(len(line) + 1 for line in lines)
    return list(lines[: sum(1 for _ in takewhile(lambda size: size <= room, sizes))])
