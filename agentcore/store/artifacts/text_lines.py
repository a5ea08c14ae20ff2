"""The lines of a text artifact, as models count them: a long line counts as several, so that each can be read."""

import io
from collections.abc import Iterator
from typing import TextIO

LINE_CHARS = 1000
"""The longest line; what is longer goes on in the next one."""


def read_lines(file: TextIO) -> Iterator[str]:
    """The lines of a text with their ends, from the file's position on."""
    return iter(lambda: file.readline(LINE_CHARS), "")


def split_lines(text: str) -> list[str]:
    """The same of a text in memory."""
    return list(read_lines(io.StringIO(text, newline="\n")))
