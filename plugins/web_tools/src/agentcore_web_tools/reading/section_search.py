"""Finds the parts of a long document that contain words, each with its headings."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(r"(#{1,6}) +(.+)|--- (page \d+) of \d+ ---")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] +|\d+\. +)?(`{3,}|~{3,})")
_PHRASE = re.compile(r'"([^"]*)"|([^\s"]+)')
_BETWEEN = r"[\s*_`>|]+"
_LONG_CHARS = 1_500
_LINES_AROUND = 3
_HEADING_CHARS = 100


class _Block(NamedTuple):
    """A paragraph, code block, list or table, with its start offset and the headings above it."""

    start: int
    text: str
    headings: tuple[str, ...]


class Found(NamedTuple):
    """The result of a search.

    Args:
        text: The parts, each after a line with its offset and headings.
        shown: The number of parts in the text.
        in_all: The number of parts that match.
    """

    text: str
    shown: int
    in_all: int


def find_parts(text: str, words: str, limit_chars: int, offset: int = 0) -> Found:
    """Find the parts of a text that contain words, in any order, ignoring case.

    Args:
        text: Markdown or plain text.
        words: The words; words between double quotes are a phrase, whose words may be separated by whitespace, line
            ends and Markdown characters.
        limit_chars: Maximum total size of the parts; the first one is returned in any case.
        offset: Where to start.
    """
    phrases = [quoted.split() or [word] for quoted, word in _PHRASE.findall(words)]
    patterns = [
        re.compile(_BETWEEN.join(map(re.escape, phrase)), re.IGNORECASE) for phrase in phrases if phrase != [""]
    ]
    pattern = re.compile("|".join(each.pattern for each in patterns) or "(?!)", re.IGNORECASE)
    blocks = list(_split_blocks(text, offset))
    requested = [
        number for number, block in enumerate(blocks) if patterns and all(each.search(block.text) for each in patterns)
    ]
    parts: list[str] = []
    room = limit_chars
    last = -1
    for shown, number in enumerate(requested):
        part = _format_part(blocks, number, pattern, is_next=number == last + 1)
        if parts and len(part) > room:
            return Found("\n\n".join(parts), shown, len(requested))
        parts.append(part)
        room -= len(part)
        last = number
    return Found("\n\n".join(parts), len(requested), len(requested))


def _split_blocks(text: str, offset: int) -> Iterator[_Block]:
    headings: dict[int, str] = {}
    lines: list[str] = []
    start = place = offset
    fence = ""
    for line in [*text[offset:].splitlines(keepends=True), "\n"]:
        if marked := _FENCE.match(line):
            fence = "" if fence and marked[1].startswith(fence) else fence or marked[1]
        if line.strip() or fence:
            start = start if lines else place
            lines.append(line)
        elif lines:
            block = "".join(lines).rstrip()
            if heading := _HEADING.match(block):
                level = len(heading[1] or "#")
                headings = {above: name for above, name in headings.items() if above < level}
                headings[level] = (heading[2] or heading[3])[:_HEADING_CHARS]
            yield _Block(start, block, tuple(headings.values()))
            lines = []
        place += len(line)


def _format_part(blocks: list[_Block], number: int, pattern: re.Pattern[str], *, is_next: bool) -> str:
    block = blocks[number]
    shown = block.text if len(block.text) <= _LONG_CHARS else _lines_around(block.text, pattern)
    if _HEADING.match(block.text) or block.text.endswith(":"):  # the next block is what it announces
        shown = "\n\n".join([shown, *(following.text[:_LONG_CHARS] for following in blocks[number + 1 : number + 2])])
    return shown if is_next else f"[offset {block.start}] {' › '.join(block.headings)}\n{shown}"


def _lines_around(text: str, pattern: re.Pattern[str]) -> str:
    """Return the matching lines of a long part with some lines around them."""
    lines = text.split("\n")
    hits = {text.count("\n", 0, match.start()) for match in pattern.finditer(text)}
    near = {line + step for line in hits for step in range(-_LINES_AROUND, _LINES_AROUND + 1)}
    kept: list[str] = []
    for number, line in enumerate(lines):
        if number in near:
            kept.append(line[:_LONG_CHARS])
        elif kept and kept[-1] != "…":
            kept.append("…")
    return "\n".join(kept)
