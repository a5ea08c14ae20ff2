"""Parsing of JSON as small models write it: single quotes, Python literals, line breaks in strings, trailing commas."""

import re
from typing import Any

from agentcore.limits import ARGUMENTS_DEPTH
from agentcore.strict_json import decode_at
from agentcore.valid_text import with_valid_text

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(?P<fraction>(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,2})?)(?![\w.])")
_WORD = re.compile(r"[A-Za-z_$][\w$-]{0,199}")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_KEYWORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'", "\n": ""}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_NEXT_KEY = re.compile(r"\s*(?:[\"'}]|[A-Za-z_$][\w$-]*\s*:)")


def decode_loosely(text: str, start: int) -> tuple[Any, int]:
    """Parse the value at an offset of a text, as strict JSON or else leniently; return it and its end.

    Raises:
        ValueError: It can be read neither way; the message is the strict parser's.
    """
    try:
        return decode_at(text, start)
    except ValueError as exc:
        try:
            reader = _Reader(text, start)
            return with_valid_text(reader.read_value("", 0)), reader.position
        except (ValueError, IndexError):
            raise exc from None


class _Reader:
    """Reads one value; `position` is the end of what was read."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self.position = position

    def read_value(self, container: str, depth: int) -> Any:
        if depth > ARGUMENTS_DEPTH:
            raise ValueError("nested too deeply")
        char = self._peek()
        if char == "{":
            return self._read_object(depth + 1)
        if char == "[":
            return self._read_list("]", depth + 1)
        if char == "(":
            return self._read_list(")", depth + 1)
        if char in _PLAIN:
            return self._read_string(container)
        return self._read_atom()

    def _peek(self) -> str:
        """Skip white space and return the next character, which is not consumed."""
        self._skip(_SPACE)
        return self._text[self.position]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self.position)
        if match is None:
            raise ValueError("not a value")
        self.position = match.end()
        return match.group()

    def _read_object(self, depth: int) -> dict[str, Any]:
        self.position += 1
        found: dict[str, Any] = {}
        while self._peek() != "}":
            key = self._read_string("key") if self._peek() in _PLAIN else self._skip(_WORD)
            if self._peek() != ":":
                raise ValueError("a colon is missing")
            self.position += 1
            found[key] = self.read_value("}", depth)
            self._skip_comma("}")
        self.position += 1
        return found

    def _read_list(self, closing: str, depth: int) -> list[Any]:
        self.position += 1
        found = []
        while self._peek() != closing:
            found.append(self.read_value(closing, depth))
            self._skip_comma(closing)
        self.position += 1
        return found

    def _skip_comma(self, closing: str) -> None:
        if self._peek() == ",":
            self.position += 1
        elif self._peek() != closing:
            raise ValueError("a comma is missing")

    def _read_string(self, container: str) -> str:
        """Read a string; a quote inside it that is not escaped ends it only if what follows fits."""
        quote = self._text[self.position]
        long = quote * 3
        if self._text.startswith(long, self.position):
            end = self._text.index(long, self.position + 3)
            said = self._text[self.position + 3 : end]
            self.position = end + 3
            return said
        self.position += 1
        chunks = []
        while True:
            chunks.append(self._skip(_PLAIN[quote]))
            if self._text[self.position] == "\\":
                chunks.append(self._read_escape())
                continue
            self.position += 1
            if self._ends_string(container):
                return "".join(chunks)
            chunks.append(quote)

    def _read_escape(self) -> str:
        char = self._text[self.position + 1]
        self.position += 2
        if char == "u" and (code := _HEX.match(self._text, self.position)):
            self.position = code.end()
            return chr(int(code.group(), 16))  # halves of a pair are joined by `with_valid_text`
        return _ESCAPES.get(char, "\\" + char)

    def _ends_string(self, container: str) -> bool:
        end = _SPACE.match(self._text, self.position).end()  # type: ignore[union-attr]  # matches everywhere
        following = self._text[end : end + 1]
        if container == "key":
            return following == ":"
        if following == ",":
            return container != "}" or _NEXT_KEY.match(self._text, end + 1) is not None
        return following == container

    def _read_atom(self) -> Any:
        number = _NUMBER.match(self._text, self.position)
        if number is not None:
            self.position = number.end()
            return float(number.group()) if number["fraction"] else int(number.group())
        word = self._skip(_WORD)
        if word not in _KEYWORDS:
            raise ValueError("not a value")
        return _KEYWORDS[word]
