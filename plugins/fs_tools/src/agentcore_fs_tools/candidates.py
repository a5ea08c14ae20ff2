"""The matches that ripgrep reports, one file after the other; each still has to be found in the file itself."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcore_fs_tools.lines import Match


@dataclass(slots=True)
class FileMatches:
    """Matches in one file.

    Args:
        path: As ripgrep names it, without `./`.
        matches: In the order of the file.
        is_binary: ripgrep met a NUL.
    """

    path: bytes
    matches: list[Match] = field(default_factory=list)
    is_binary: bool = False


def read_candidates(blocks: Iterable[bytes]) -> Iterator[FileMatches]:
    """Read the output of `rg --json`; a file is given when ripgrep is through with it."""
    current = FileMatches(b"")
    for line in _lines(blocks):
        message = json.loads(line)
        kind, content = message["type"], message["data"]
        if kind == "match":
            current.matches.append(_match(content))
        elif kind == "begin":
            current = FileMatches(_bytes(content["path"]).removeprefix(b"./"))
        elif kind == "end":
            current.is_binary = content["binary_offset"] is not None
            yield current


def _match(content: Mapping[str, Any]) -> Match:
    parts = content["submatches"]
    text = _bytes(content["lines"]).removesuffix(b"\n")
    return Match(content["line_number"], content["absolute_offset"], text, parts[0]["start"] if parts else 0)


def _bytes(value: Mapping[str, str]) -> bytes:
    """A value of ripgrep: text, or base64 where it is not UTF-8."""
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
