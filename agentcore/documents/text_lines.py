"""Lines of a text as shown to models: a long line counts as several, so that each part can be read."""

import io
from collections.abc import Iterator
from typing import TextIO

from agentcore.late_dataclasses import dataclass

LINE_CHARS = 1000
"""Maximum length of a line; longer lines continue in the next one."""

_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True)
class ArtifactLines:
    """Lines of a text artifact, or of the text of a document.

    Args:
        lines: Each with its number, from 1. One of over 1,000 characters counts as several.
        total: Total number of lines: of the text, or of those that match.
    """

    lines: tuple[tuple[int, str], ...]
    total: int


def read_lines(file: TextIO) -> Iterator[str]:
    """Iterate over the lines of a text including their line ends, from the file's position on."""
    return iter(lambda: file.readline(LINE_CHARS), "")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text in memory, as `read_lines` does for a file."""
    return list(read_lines(io.StringIO(text, newline="\n")))


def slice_lines(first: int, limit: int, chars: int, file: TextIO) -> ArtifactLines:
    """Return up to `limit` lines from line `first` (from 1) on that fit into `chars` characters, but at least one."""
    taken: list[tuple[int, str]] = []
    total = 0
    room = chars
    for line in read_lines(file):
        total += 1
        if total >= first and len(taken) < limit and room > 0:
            room -= len(line)
            if room >= 0 or not taken:
                taken.append((total, line))
    return ArtifactLines(tuple(taken), total)


def find_lines(query: str, first: int, limit: int, file: TextIO) -> ArtifactLines:
    """Return up to `limit` excerpts of lines from `first` on that contain the query; `total` counts all such lines."""
    found: list[tuple[int, str]] = []
    total = 0
    before = ""
    for number, line in enumerate(read_lines(file), 1):
        # a match across two parts of a long line is found in the later part
        text = before + line
        at = text.find(query)
        if at >= 0 and number >= first:
            total += 1
            if len(found) < limit:
                start = max(at - _SHOWN_CHARS // 3, 0)
                found.append((number, text[start : start + _SHOWN_CHARS].strip()))
        before = "" if line.endswith("\n") else text[max(len(text) - len(query) + 1, 0) :]
    return ArtifactLines(tuple(found), total)
