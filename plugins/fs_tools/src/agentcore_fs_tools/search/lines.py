"""Matching lines and the lines around them, read through the descriptor of the file."""

from dataclasses import dataclass, replace

from agentcore.api import Workspace
from agentcore_fs_tools.text.encoding import detect_form

CONTEXT_BYTES = 1 << 16
"""How far from a match context lines are read."""

EXCERPT_BYTES = 1 << 11
"""How much is read again around the first match of a line that is too long to store, …"""

LEAD_BYTES = 1 << 7
"""… starting this far before the match."""

_DECODED_LIMIT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Match:
    """A matching line, or several lines of one match.

    Args:
        number: Number of the first line, from 1.
        offset: Start in bytes of the searched text (as UTF-8, without a byte order mark).
        content: The bytes, without the last line end.
        column: Start of the match within `content`, in bytes.
    """

    number: int
    offset: int
    content: bytes
    column: int

    @property
    def last_number(self) -> int:
        """Return the number of the last line."""
        return self.number + self.content.count(b"\n")


@dataclass(frozen=True, slots=True)
class LongLine:
    """A matching line, or several lines of one match, that is too long to store whole.

    Args:
        number: Number of the first line, from 1.
        offset: Start in bytes of the searched text.
        column: Start of the first match within the line, in bytes.
        match: The first match; empty if it is too long itself.
        excerpt: The line around the match, once it was read again.
        excerpt_column: Start of the excerpt within the line, in bytes.
    """

    number: int
    offset: int
    column: int
    match: bytes
    excerpt: bytes = b""
    excerpt_column: int = 0

    @property
    def last_number(self) -> int:
        """Return the number of the line; further lines of the same match are not shown."""
        return self.number


class SearchedText:
    """The text of a file as ripgrep searches it: UTF-8 without a byte order mark, converted from UTF-16 if necessary.

    Args:
        file: An open file.
    """

    def __init__(self, file: Workspace.OpenFile) -> None:
        self._file = file
        self._text: bytes | None = None
        self._start = 0
        head = file.read(4)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            whole = file.read(_DECODED_LIMIT_BYTES)
            form = detect_form(whole[:4], is_whole=False)
            assert form is not None  # noqa: S101  (it has a mark)
            self._text = form.decode(whole, "", errors="replace").encode("utf-8", "replace")
        elif head.startswith(b"\xef\xbb\xbf"):
            self._start = 3

    def read_bytes(self, offset: int, count: int) -> bytes:
        """Return up to `count` bytes of the searched text from an offset."""
        if self._text is not None:
            return self._text[offset : offset + count]
        return self._file.read(count, self._start + offset)

    def confirm_match(self, match: Match | LongLine) -> Match | LongLine | None:
        """Return the match, a long line with its excerpt; None if the file does not contain it."""
        if isinstance(match, Match):
            return match if self.read_bytes(match.offset, len(match.content)) == match.content else None
        at = match.offset + match.column
        if self.read_bytes(at, len(match.match)) != match.match:
            return None
        start = max(match.offset, at - LEAD_BYTES)
        around = self.read_bytes(start, EXCERPT_BYTES)
        before = around[: at - start]
        behind = around[at - start :]
        excerpt = before.rpartition(b"\n")[2] + behind.partition(b"\n")[0]
        return replace(match, excerpt=excerpt, excerpt_column=start - match.offset)

    def read_lines_before(self, match: Match | LongLine, count: int) -> list[bytes]:
        """Return up to `count` whole lines before a match."""
        start = max(match.offset - CONTEXT_BYTES, 0)
        lines = self.read_bytes(start, match.offset - start).split(b"\n")[:-1]
        if start > 0:
            lines = lines[1:]  # its start was not read
        return lines[max(len(lines) - count, 0) :]

    def read_lines_after(self, match: Match | LongLine, count: int) -> list[bytes]:
        """Return up to `count` whole lines after a match; none after a `LongLine`, whose end is too far away."""
        if isinstance(match, LongLine):
            return []
        block = self.read_bytes(match.offset + len(match.content), CONTEXT_BYTES)
        lines = block.split(b"\n")
        if len(block) == CONTEXT_BYTES or not lines[-1]:
            lines = lines[:-1]
        return lines[1 : count + 1]
