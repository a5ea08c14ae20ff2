"""The part of ripgrep's regular expressions that RE2 reads the same way; both take linear time.

Out of it stay `\\w \\d \\s \\b` and other classes by name, operations on sets, flags, line ends, and ignoring the case
of letters beyond ASCII: there the engines differ. Property tests hold the two to the same lines.
"""

from collections.abc import Callable
from typing import Any

import re2  # type: ignore[import-untyped]

_REPEAT_LIMIT = 100
_COUNT_DIGITS = 3
_DEPTH_LIMIT = 20
_ESCAPED = frozenset("\\.+*?()|[]{}^$#&-~")


class LineSearch:
    """A pattern, ready to find the lines of a text that match it.

    Args:
        pattern: Of the subset.
        ignore_case: Whether capitals and small letters are the same.
    """

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        options = re2.Options()
        options.never_nl, options.log_errors, options.case_sensitive = True, False, not ignore_case
        self._search: Callable[..., Any] = re2.compile(f"(?m:{pattern})".encode(), options).search

    def matches_empty(self) -> bool:
        """Whether the pattern matches where there is nothing."""
        return self._search(b"") is not None

    def lines(self, content: bytes, limit: int) -> list[tuple[int, int, int]]:
        """Lines that match, in order: where each begins and ends (without its line end), and where its match begins.

        Args:
            content: Valid UTF-8.
            limit: At most so many.
        """
        found: list[tuple[int, int, int]] = []
        position = 0
        while len(found) < limit and (match := self._search(content, position)) is not None:
            at = match.start()
            if at >= len(content):
                break
            end = content.find(b"\n", at)
            end = len(content) if end < 0 else end
            found.append((content.rfind(b"\n", 0, at) + 1, end, at))
            position = end + 1
            if position >= len(content):
                break
        return found


def compile_subset(pattern: str, *, ignore_case: bool) -> LineSearch | None:
    """The search for a pattern of the subset; None: ripgrep has to read it."""
    if ignore_case and not pattern.isascii():
        return None
    if not _Reader(pattern).is_in_subset():
        return None
    try:
        search = LineSearch(pattern, ignore_case=ignore_case)
    except re2.error:
        return None
    # a pattern that matches nothing between characters matches every line, and the engines count lines apart
    return None if search.matches_empty() else search


class _Reader:
    """Reads a pattern by the grammar of the subset."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def is_in_subset(self) -> bool:
        return bool(self._text) and self._alternatives(0) and self._at == len(self._text)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _alternatives(self, depth: int) -> bool:
        if depth > _DEPTH_LIMIT or not self._sequence(depth):
            return False
        while self._peek() == "|":
            self._at += 1
            if not self._sequence(depth):
                return False
        return True

    def _sequence(self, depth: int) -> bool:
        while self._peek() not in ("", "|", ")"):
            is_anchor = self._peek() in ("^", "$")
            if not self._atom(depth) or not self._repetition(can_repeat=not is_anchor):
                return False
        return True

    def _atom(self, depth: int) -> bool:
        character = self._peek()
        self._at += 1
        if character == "(":
            return self._group(depth)
        if character == "[":
            return self._set()
        if character == "\\":
            escaped = self._peek()
            self._at += 1
            return escaped != "" and (escaped in _ESCAPED or escaped == "t")
        return character in ".^$" or _is_literal(character)

    def _group(self, depth: int) -> bool:
        if self._peek() == "?":
            if not self._text.startswith("?:", self._at):
                return False
            self._at += 2
        if not self._alternatives(depth + 1) or self._peek() != ")":
            return False
        self._at += 1
        return True

    def _set(self) -> bool:
        end = self._text.find("]", self._at)
        inside = self._text[self._at : end] if end > 0 else ""
        self._at = end + 1
        items = inside.removeprefix("^")
        if not items or not items.isascii() or any(character in "[]\\&~^" or character < " " for character in items):
            return False
        return _ranges_are_plain(items)

    def _repetition(self, *, can_repeat: bool) -> bool:
        character = self._peek()
        if character == "" or character not in "*+?{":
            return True
        if not can_repeat:
            return False
        self._at += 1
        if character == "{" and not self._counts():
            return False
        if self._peek() == "?":
            self._at += 1
        return self._peek() == "" or self._peek() not in "*+?{"

    def _counts(self) -> bool:
        end = self._text.find("}", self._at)
        if end < 0:
            return False
        least, comma, most = self._text[self._at : end].partition(",")
        self._at = end + 1
        if not _is_count(least) or (most and not _is_count(most)):
            return False
        return not comma or not most or int(least) <= int(most)


def _is_literal(character: str) -> bool:
    return character == "\t" or (character.isprintable() and character not in "\\.+*?()|[]{}^$")


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS and int(text) <= _REPEAT_LIMIT


def _ranges_are_plain(items: str) -> bool:
    """Whether each `-` stands between two letters or digits, in order."""
    place = 0
    while place < len(items):
        if items[place] == "-":
            return False
        if items[place + 1 : place + 2] == "-":
            last = items[place + 2 : place + 3]
            if not (items[place].isalnum() and last.isalnum() and items[place] <= last):
                return False
            place += 2
        place += 1
    return True
