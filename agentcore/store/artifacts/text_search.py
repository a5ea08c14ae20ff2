"""Text search in a large file, line by line, in linear time and limited memory."""

from collections.abc import Iterator
from typing import BinaryIO

from agentcore.late_dataclasses import dataclass

QUERY_CHARS = 1000
"""Maximum length of a query."""

_BLOCK_BYTES = 1024 * 1024
_SHOWN_CHARS = 500
# chunks of a line longer than a block overlap by the longest UTF-8 form of any query
_OVERLAP_BYTES = 4 * QUERY_CHARS


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A line that contains the searched text.

    Args:
        line: Its number, from 1.
        offset: Byte offset of the line in the file; for a line longer than a block, of the chunk.
        text: The line, or 500 characters of it around the first match.
    """

    line: int
    offset: int
    text: str


def search_lines(file: BinaryIO, query: str, *, ignore_case: bool = False) -> Iterator[TextMatch]:
    """Yield the lines of a UTF-8 file that contain the query literally, from the file's position on.

    Args:
        file: Opened in binary mode.
        query: 1 to 1,000 characters, no line end.
        ignore_case: Ignore case, in any alphabet.
    """
    requested = query.casefold() if ignore_case else query
    first_line = 1
    last_match = 0
    for offset, block in _read_blocks(file):
        if requested in _decode_folded(block, ignore_case):
            for match in _find_matches(block, requested, first_line, offset, ignore_case):
                if match.line != last_match:
                    last_match = match.line
                    yield match
        first_line += block.count(b"\n")


def _read_blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield offsets and blocks; a block ends with a line end, unless a single line fills it."""
    offset = 0
    rest = b""
    while data := file.read(_BLOCK_BYTES):
        rest += data
        end = rest.rfind(b"\n") + 1
        if end:
            yield offset, rest[:end]
        elif len(rest) > _BLOCK_BYTES:
            yield offset, rest
            end = len(rest) - _OVERLAP_BYTES
        offset = offset + end
        rest = rest[end:]
    if rest:
        yield offset, rest


def _find_matches(block: bytes, wanted: str, line: int, offset: int, ignore_case: bool) -> Iterator[TextMatch]:
    for content in block.split(b"\n"):
        position = _decode_folded(content, ignore_case).find(wanted)
        if position >= 0:
            yield TextMatch(line, offset, _excerpt(content.decode("utf-8", "replace").rstrip("\r"), position))
        line += 1
        offset += len(content) + 1


def _decode_folded(content: bytes, ignore_case: bool) -> str:
    text = content.decode("utf-8", "replace")
    return text.casefold() if ignore_case else text


def _excerpt(text: str, position: int) -> str:
    if len(text) <= _SHOWN_CHARS:
        return text
    # case folding may shift the position by a few characters, which the margin allows for
    start = max(0, min(position - _SHOWN_CHARS // 4, len(text) - _SHOWN_CHARS))
    return text[start : start + _SHOWN_CHARS]
