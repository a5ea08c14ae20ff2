"""Lines of a file around a match, read through its descriptor."""

from dataclasses import dataclass, replace

from agentcore.api import Workspace
from agentcore_fs_tools.text.encoding import detect_form

CONTEXT_BYTES = 1 << 16
"""How far from a match context is looked for."""

EXCERPT_BYTES = 1 << 11
"""Of a line too long to be kept, so much around its first match is read again, …"""

LEAD_BYTES = 1 << 7
"""… beginning so far in front of it."""

_DECODED_LIMIT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Match:
    """A matching line, or lines that match together.

    Args:
        number: Of its first line, from 1.
        offset: Where it begins, in bytes of the searched text (without a mark, as UTF-8).
        content: Its bytes, without the last line end.
        column: Where in it the match begins, in bytes.
    """

    number: int
    offset: int
    content: bytes
    column: int

    @property
    def last_number(self) -> int:
        """The number of the last line."""
        return self.number + self.content.count(b"\n")


@dataclass(frozen=True, slots=True)
class LongLine:
    """A matching line that is too long to be kept whole (or lines that match together and are).

    Args:
        number: Of its first line, from 1.
        offset: Where it begins, in bytes of the searched text.
        column: Where in it the first match begins, in bytes.
        match: That match; empty, when it is too long itself.
        excerpt: The line around the match, once it was read again.
        excerpt_column: Where in the line the excerpt begins, in bytes.
    """

    number: int
    offset: int
    column: int
    match: bytes
    excerpt: bytes = b""
    excerpt_column: int = 0

    @property
    def last_number(self) -> int:
        """The number of the line; what follows it in the same match is not shown."""
        return self.number


class SearchedText:
    """The text of a file as it is searched: UTF-8 without a mark; UTF-16 is brought into that form.

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
        """Bytes from an offset."""
        if self._text is not None:
            return self._text[offset : offset + count]
        return self._file.read(count, self._start + offset)

    def confirm_match(self, match: Match | LongLine) -> Match | LongLine | None:
        """A match, with what is shown of it; None: it is not there."""
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
        """Up to so many whole lines in front of a match."""
        start = max(match.offset - CONTEXT_BYTES, 0)
        lines = self.read_bytes(start, match.offset - start).split(b"\n")[:-1]
        if start > 0:
            lines = lines[1:]  # its beginning is not here
        return lines[max(len(lines) - count, 0) :]

    def read_lines_after(self, match: Match | LongLine, count: int) -> list[bytes]:
        """Up to so many whole lines behind a match, none behind a line whose end is far off."""
        if isinstance(match, LongLine):
            return []
        block = self.read_bytes(match.offset + len(match.content), CONTEXT_BYTES)
        lines = block.split(b"\n")
        if len(block) == CONTEXT_BYTES or not lines[-1]:
            lines = lines[:-1]
        return lines[1 : count + 1]
