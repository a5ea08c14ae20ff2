"""Lines of a file around a match, read through its descriptor."""

from dataclasses import dataclass

from agentcore.api import Workspace
from agentcore_fs_tools.text_encoding import detect_form

CONTEXT_BYTES = 1 << 16
"""How far from a match context is looked for."""

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


class SearchedText:
    """The text of a file as it is searched: UTF-8 without a mark; UTF-16 is brought into that form.

    Args:
        file: An open file.
        content: All of it, where that was read already.
    """

    def __init__(self, file: Workspace.OpenFile, content: bytes | None = None) -> None:
        self._file = file
        self._text = content
        self._start = 0
        head = file.read(4) if content is None else content[:4]
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            whole = file.read(_DECODED_LIMIT_BYTES) if content is None else content
            form = detect_form(whole[:4], is_whole=False)
            assert form is not None  # noqa: S101  (it has a mark)
            self._text = form.decode(whole, "", errors="replace").encode("utf-8", "replace")
        elif head.startswith(b"\xef\xbb\xbf"):
            self._start = 3

    def whole(self) -> bytes:
        """All of the text, which was given."""
        assert self._text is not None  # noqa: S101  (see above)
        return self._text[self._start :]

    def read(self, offset: int, count: int) -> bytes:
        """Bytes from an offset."""
        if self._text is not None:
            return self._text[self._start + offset : self._start + offset + count]
        return self._file.read(count, self._start + offset)

    def holds(self, match: Match) -> bool:
        """Whether a match is really there."""
        return self.read(match.offset, len(match.content)) == match.content

    def before(self, match: Match, count: int) -> list[bytes]:
        """Up to so many whole lines in front of a match."""
        start = max(match.offset - CONTEXT_BYTES, 0)
        lines = self.read(start, match.offset - start).split(b"\n")[:-1]
        if start > 0:
            lines = lines[1:]  # its beginning is not here
        return lines[max(len(lines) - count, 0) :]

    def after(self, match: Match, count: int) -> list[bytes]:
        """Up to so many whole lines behind a match."""
        block = self.read(match.offset + len(match.content), CONTEXT_BYTES)
        lines = block.split(b"\n")
        if len(block) == CONTEXT_BYTES or not lines[-1]:
            lines = lines[:-1]
        return lines[1 : count + 1]
