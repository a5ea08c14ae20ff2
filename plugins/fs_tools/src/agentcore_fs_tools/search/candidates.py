"""Parse the matches that ripgrep reports, file by file; each must still be confirmed in the file itself."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore_fs_tools.search.lines import LongLine, Match
from agentcore_fs_tools.search.ripgrep import OutputCutError

MESSAGE_LIMIT_BYTES = 1 << 20
"""Of larger messages, which are about lines of such a length, only the part around the line is stored."""

KEPT_LIMIT_BYTES = 64 << 20
"""Total size of messages after which reading stops."""

# quotation marks within a JSON string are escaped, so these sequences occur only at its end
_LINE_ENDS = b'"},"line_number":'
_MATCH_ENDS = b'"},"start":'
_HEADER = re.compile(rb'"\},"line_number":(\d+),"absolute_offset":(\d+),"submatches":\[\{"match":(?=\{)')
_START = re.compile(rb'"\},"start":(\d+),')
_NUMBERS_BYTES = 200  # more than the numbers around a text need


@dataclass(slots=True)
class FileMatches:
    """Matches in one file.

    Args:
        path: Path from ripgrep, without `./`.
        matches: Matches in the order of the file.
        is_binary: True if ripgrep found a NUL.
    """

    path: bytes
    matches: list[Match | LongLine] = field(default_factory=list)
    is_binary: bool = False


def read_candidates(blocks: Iterable[bytes]) -> Iterator[FileMatches]:
    """Read the output of `rg --json`; a file is yielded when ripgrep has finished it, or the output is cut.

    Raises:
        OutputCutError: There is more output than is read; everything found until then was yielded.
    """
    current = FileMatches(b"")
    try:
        for message in _read_messages(blocks):
            if isinstance(message, LongLine):
                current.matches.append(message)
                continue
            kind = message["type"]
            content = message["data"]
            if kind == "match":
                current.matches.append(_parse_match(content))
            elif kind == "begin":
                current = FileMatches(_decode_value(content["path"]).removeprefix(b"./"))
            elif kind == "end":
                current.is_binary = content["binary_offset"] is not None
                yield current
                current = FileMatches(b"")
    except OutputCutError:
        if current.matches:
            yield current
        raise


def read_counts(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Read the output of `rg --count --null`: paths without `./`, and the number of matches in each file."""
    rest = b""
    for block in blocks:
        path, *chunks = (rest + block).split(b"\0")  # not by lines: a name may contain a line end, but no NUL
        for chunk in chunks:
            count, end, following = chunk.partition(b"\n")
            if not end:
                path += b"\0" + chunk
                break
            yield path.removeprefix(b"./"), int(count)
            path = following
        rest = path


def _parse_match(content: Mapping[str, Any]) -> Match:
    parts = content["submatches"]
    text = _decode_value(content["lines"]).removesuffix(b"\n")
    return Match(content["line_number"], content["absolute_offset"], text, parts[0]["start"] if parts else 0)


def _decode_value(value: Mapping[str, str]) -> bytes:
    """Decode a value in ripgrep's JSON: text, or base64 if it is not UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _read_messages(blocks: Iterable[bytes]) -> Iterator[Mapping[str, Any] | LongLine]:
    """Yield the messages, each a line of JSON; for a huge one, a `LongLine` with the position of the match."""
    chunks: list[bytes] = []
    size = kept = 0
    long: _LongMessage | None = None
    for block in blocks:
        *ends, rest = block.split(b"\n")
        for end in ends:
            if long is None:
                kept += size + len(end)
                yield json.loads(b"".join((*chunks, end)))
            else:
                yield from long.feed(end)
                long = None
            chunks = []
            size = 0
        if long is None:
            chunks.append(rest)
            size += len(rest)
            if size > MESSAGE_LIMIT_BYTES:
                long = _LongMessage()
                rest = b"".join(chunks)
                chunks = []
        if long is not None:
            yield from long.feed(rest)
        if kept > KEPT_LIMIT_BYTES:
            raise OutputCutError


class _LongMessage:
    """A message that is too long to store: it is scanned for the end of the line's text and the first match after it.

    The message about a line with very many matches is many times as long as the line; the first match is known long
    before its end and is yielded then.
    """

    def __init__(self) -> None:
        self._tail = bytearray()
        self._header: re.Match[bytes] | None = None
        self._is_given = False

    def feed(self, piece: bytes) -> Iterator[LongLine]:
        """Consume the next chunk; yield the line once, when its first match is known."""
        if self._is_given:
            return
        self._tail += piece
        if self._header is None:
            self._drop_before(_LINE_ENDS)
            self._header = _HEADER.match(bytes(self._tail[:_NUMBERS_BYTES]))
            if self._header is None:
                return
            del self._tail[: self._header.end()]
        end = self._tail.find(_MATCH_ENDS)
        start = _START.match(bytes(self._tail[end : end + _NUMBERS_BYTES])) if end >= 0 else None
        if start is not None:
            self._is_given = True
            yield self._build_line(end, int(start[1]))
        elif len(self._tail) > MESSAGE_LIMIT_BYTES:
            self._drop_before(_MATCH_ENDS)

    def _build_line(self, end: int, start: int) -> LongLine:
        assert self._header is not None  # noqa: S101  (it was read before the match)
        # the start of a match that is itself too long was dropped
        is_whole = self._tail.startswith(b"{")
        match = _decode_value(json.loads(self._tail[:end] + b'"}')) if is_whole else b""
        return LongLine(int(self._header[1]), int(self._header[2]), start, match)

    def _drop_before(self, mark: bytes) -> None:
        """Drop everything before a mark, of which only a part may have arrived."""
        found = self._tail.find(mark)
        del self._tail[: found if found >= 0 else max(len(self._tail) - len(mark), 0)]
