"""The lines of a text artifact, as models count them: a long line counts as several, so that each can be read."""

import io
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from agentcore.api import ArtifactLines
from agentcore.documents import HEAD_BYTES, is_text

LINE_CHARS = 1000
"""The longest line; what is longer goes on in the next one."""

_SHOWN_CHARS = 300


def read_lines(file: TextIO) -> Iterator[str]:
    """The lines of a text with their ends, from the file's position on."""
    return iter(lambda: file.readline(LINE_CHARS), "")


def split_lines(text: str) -> list[str]:
    """The same of a text in memory."""
    return list(read_lines(io.StringIO(text, newline="\n")))


def starts_with_text(file: BinaryIO) -> bool:
    """Whether a file begins with UTF-8 text, whatever its media type says; its position stays at the beginning."""
    head = file.read(HEAD_BYTES)
    file.seek(0)
    return is_text(head)


def as_text(file: BinaryIO, mime: str) -> TextIO:
    """A file as text in the encoding that its media type names, else in UTF-8."""
    encoding = mime.rpartition("charset=")[2] if "charset=" in mime else "utf-8"
    try:
        return io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
    except LookupError:
        return io.TextIOWrapper(file, "utf-8", errors="replace", newline="\n")


def slice_lines(first: int, limit: int, chars: int, file: TextIO) -> ArtifactLines:
    """Lines from one on, counted from 1: as many as are wanted, and at least one of those that fit `chars`."""
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
    """Lines from one on that hold a text, each as the part around it; `total` counts all that do."""
    found: list[tuple[int, str]] = []
    total = 0
    before = ""
    for number, line in enumerate(read_lines(file), 1):
        # what the parts of a long line hold between them is found in the later one
        text = before + line
        at = text.find(query)
        if at >= 0 and number >= first:
            total += 1
            if len(found) < limit:
                start = max(at - _SHOWN_CHARS // 3, 0)
                found.append((number, text[start : start + _SHOWN_CHARS].strip()))
        before = "" if line.endswith("\n") else text[max(len(text) - len(query) + 1, 0) :]
    return ArtifactLines(tuple(found), total)
