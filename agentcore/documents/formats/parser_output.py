"""What a parser reports: lines of JSON on stdout, in the order in which the document is read."""

import json
import sys
from typing import TextIO

TEXT_CHARS = 2_000_000
"""Maximum length of the text; what follows is not read."""


_TITLE_CHARS = 1_000


class UnreadableError(Exception):
    """The document cannot be read; the message continues a sentence: "it is …"."""


class TextFullError(Exception):
    """`TEXT_CHARS` were written."""


class Output:
    """Writes what was read so far, which counts even if the rest fails.

    Args:
        file: Receives the lines; None: stdout.
    """

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stdout
        self._room = TEXT_CHARS

    def write_head(self, what: str, mime: str, *, title: str = "", count: int = 0) -> None:
        """Report what the document is.

        Args:
            what: With a count such as "pages of a PDF", otherwise such as "the text of a Word document".
            mime: Its media type.
            title: Its title, if it has one.
            count: Number of parts that follow, each with a heading; 0: the text is not divided.
        """
        self._write_line(
            {"what": what, "mime": mime, "title": " ".join(_encodable(title).split())[:_TITLE_CHARS], "count": count}
        )

    def write_problem(self, problem: str) -> None:
        """Report why something is missing."""
        self._write_line({"problem": problem})

    def write_part(self, heading: str, text: str) -> None:
        """Write a part; without a heading it continues the previous one on a new line.

        Raises:
            TextFullError: There is no room for more.
        """
        shown = _encodable(text)[: self._room]
        self._room -= len(shown) + len(heading)
        self._write_line([_encodable(heading), shown])
        if self._room <= 0:
            raise TextFullError

    def _write_line(self, line: object) -> None:
        self._file.write(f"{json.dumps(line)}\n")
        self._file.flush()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
