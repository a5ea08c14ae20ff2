"""Find text that only looks like another one, and name the difference: special blanks, quotes, decomposed letters."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_BLANKS = re.compile(r"[^\S\n]+")
_INVISIBLE = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF])
_ALIKE = str.maketrans("‘’‚‛`´′“”„‟«»″‐‑‒–—―−", "'''''''\"\"\"\"\"\"\"-------")
_NAMES = {"\t": "TAB", "\r": "CARRIAGE RETURN", "\N{REPLACEMENT CHARACTER}": "shown for a byte that is not UTF-8"}
_NAMED = 3
_SEARCHED_CHARS = 1 << 20  # normalizing takes 50 ns for a character, and is not interrupted


@dataclass(frozen=True, slots=True)
class LookAlike:
    """Text of a file that looks like another one.

    Args:
        line: Its first line, from 0.
        difference: The first difference, for a message.
    """

    line: int
    difference: str


def find_look_alike(lines: Sequence[str], old: str) -> LookAlike | None:
    """Return where a text occurs in lines if only characters that look alike differ; None: nowhere.

    Args:
        lines: The lines of a file, without line ends.
        old: A text that does not occur in them exactly.
    """
    requested = _fold(old[: _SEARCHED_CHARS + 1])
    if len(old) > _SEARCHED_CHARS or not requested.strip():
        return None
    folded = _fold("\n".join(lines)[:_SEARCHED_CHARS])
    position = folded.find(requested)
    if position < 0:
        return None
    first = folded.count("\n", 0, position)
    for step, old_line in enumerate(old.replace("\r\n", "\n").split("\n")):
        line = lines[first + step]
        if old_line not in line:
            return LookAlike(first, f"line {first + step + 1} of the file {_describe_difference(line, old_line)}")
    return LookAlike(first, f"line {first + 1} of the file has other line ends")


def _fold(text: str) -> str:
    """Return a text with the same line ends, in which characters that look alike are the same."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_INVISIBLE).translate(_ALIKE))
    return _BLANKS.sub(" ", text.replace("`", "'"))


def _describe_difference(line: str, old: str) -> str:
    """Return what a line of a file has in place of the characters of a line that looks the same."""
    composed = unicodedata.normalize("NFC", line)
    if unicodedata.normalize("NFC", old) in composed:
        form = "decomposed (NFD)" if composed != line else "composed (NFC)"
        return f"has {form} letters, and the given text has not"
    there = _name_characters(line, beyond=old)
    given = _name_characters(old, beyond=line)
    if there and given:
        return f"has {there} where the given text has {given}"
    if there:
        return f"has {there}, which the given text does not have"
    if given:
        return f"does not have {given}, which the given text has"
    return "has another number or order of blanks"


def _name_characters(text: str, *, beyond: str) -> str:
    """Return the characters of a text that another text does not have, with their columns."""
    found = [each for each in dict.fromkeys(text) if each not in beyond]
    return ", ".join(f"{_name_character(each)} at column {text.index(each) + 1}" for each in found[:_NAMED])


def _name_character(character: str) -> str:
    name = _NAMES.get(character) or unicodedata.name(character, "")
    return f"U+{ord(character):04X}{f' ({name})' if name else ''}"
