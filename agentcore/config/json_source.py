"""JSON text with the position of every value, for errors with line and column and for edits in place.

Stricter than `json.loads` (RFC 8259, and I-JSON of RFC 7493 where that is silent): a repeated key, NaN, a number out of
range, half of a surrogate pair, a byte order mark and nesting beyond `DEPTH_LIMIT` are errors.
"""

import codecs
import json
import math
import re
from bisect import bisect_right
from functools import cached_property
from typing import Any, NoReturn, Self

from agentcore.errors import AgentcoreError
from agentcore.late_dataclasses import dataclass

JsonPath = tuple[str | int, ...]
"""Path of a value in a document: keys of objects and indexes of lists, outermost first; `()` is the root."""

DEPTH_LIMIT = 100
"""Maximum nesting of objects and lists; far below what would exhaust Python's stack."""

_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SCALAR_START = frozenset('"-0123456789tfn')
_WORD = re.compile(r"[-+]?[\w.]+")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_$-]+")
_OTHER_ENCODINGS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INSTEAD_OF = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}
_NO_NUMBERS = frozenset(("NaN", "Infinity", "+Infinity", "-Infinity"))


class JsonSyntaxError(AgentcoreError):
    """The text is not JSON, or not of the strict kind accepted by this parser.

    Args:
        line: Counted from 1.
        column: Counted from 1, in code points.
    """

    def __init__(self, message: str, /, *, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Span:
    """A range of the text: from `start` up to, but excluding, `end`."""

    start: int
    end: int


class JsonSource:
    """A JSON text, the document it contains, and the position of every value in it.

    Args:
        text: The whole text, with its original line ends.
    Raises:
        JsonSyntaxError: The text is not JSON.

    Attributes:
        spans: The range of every value of the document.
        key_spans: The range of the key, including quotes, of every member of an object.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[JsonPath, Span] = {}
        self.key_spans: dict[JsonPath, Span] = {}
        self.value: Any = _Parser(self).parse_document()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Parse UTF-8 bytes.

        Raises:
            JsonSyntaxError: The bytes are not UTF-8, start with a byte order mark, or are not JSON.
        """
        if data.startswith(codecs.BOM_UTF8):
            message = "the file begins with a byte order mark; save it as UTF-8 without one"
            raise JsonSyntaxError(message, line=1, column=1)
        if data.startswith(_OTHER_ENCODINGS):
            raise JsonSyntaxError("the file is UTF-16 or UTF-32; save it as UTF-8", line=1, column=1)
        try:
            return cls(data.decode())
        except UnicodeDecodeError as exc:
            head = data[: exc.start].decode()
            line, column = _line_and_column(_line_starts(head), len(head))
            message = f"the byte 0x{data[exc.start]:02x} is not UTF-8; save the file as UTF-8"
            raise JsonSyntaxError(message, line=line, column=column) from exc

    def get_position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, of an offset into the text."""
        return _line_and_column(self._line_starts, offset)

    def locate(self, path: JsonPath) -> tuple[int, int]:
        """Return line and column of a value, or of the innermost existing value around it."""
        while path not in self.spans:
            path = path[:-1]
        return self.get_position(self.spans[path].start)

    def locate_key(self, path: JsonPath) -> tuple[int, int]:
        """Return line and column of a member's key, or of the value itself if it has no key."""
        span = self.key_spans.get(path)
        return self.locate(path) if span is None else self.get_position(span.start)

    def get_value(self, path: JsonPath) -> Any:
        """Return the value at a path.

        Raises:
            KeyError: There is no value.
        """
        if path not in self.spans:
            raise KeyError(format_path(path))
        value = self.value
        for step in path:
            value = value[step]
        return value

    @cached_property
    def _line_starts(self) -> list[int]:
        return _line_starts(self.text)


def format_path(path: JsonPath) -> str:
    """Format a path for people, such as `workspace.roots[1]`; keys with other characters are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + (step if _PLAIN_KEY.fullmatch(step) else json.dumps(step))
    return text


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _line_and_column(line_starts: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(line_starts, offset)
    return line, offset - line_starts[line - 1] + 1


class _Parser:
    """One pass over the text of a source, which fills the source's spans."""

    def __init__(self, source: JsonSource) -> None:
        self._source = source
        self._text = source.text
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def parse_document(self) -> Any:
        start = self._skip_space(0)
        value, end = self._parse_value(start, (), 0)
        end = self._skip_space(end)
        if end < len(self._text):
            self._fail(end, f"{self._describe_character(end)} follows the end of the document")
        return value

    def _parse_value(self, start: int, path: JsonPath, depth: int) -> tuple[Any, int]:
        opening = self._text[start : start + 1]
        if opening in ("{", "[") and depth >= DEPTH_LIMIT:
            self._fail(start, f"more than {DEPTH_LIMIT} objects and lists inside one another")
        value: Any
        if opening == "{":
            value, end = self._parse_object(start, path, depth + 1)
        elif opening == "[":
            value, end = self._parse_list(start, path, depth + 1)
        else:
            value, end = self._parse_scalar(start)
        self._source.spans[path] = Span(start, end)
        return value, end

    def _parse_object(self, start: int, path: JsonPath, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        at = self._skip_space(start + 1)
        while self._text[at : at + 1] != "}":
            if members:
                at = self._parse_comma(at, "}", start)
            key_start = at
            key, at = self._parse_key(at, start)
            member = (*path, key)
            if key in members:
                first, _ = self._source.locate_key(member)
                self._fail(key_start, f"the key {key!r} stands twice in one object, first in line {first}")
            self._source.key_spans[member] = Span(key_start, at)
            at = self._skip_space(at)
            if self._text[at : at + 1] != ":":
                self._fail(at, f"expected ':' after the key {key!r}, found {self._describe_character(at)}")
            members[key], at = self._parse_value(self._skip_space(at + 1), member, depth)
            at = self._skip_space(at)
        return members, at + 1

    def _parse_list(self, start: int, path: JsonPath, depth: int) -> tuple[list[Any], int]:
        elements: list[Any] = []
        at = self._skip_space(start + 1)
        while self._text[at : at + 1] != "]":
            if elements:
                at = self._parse_comma(at, "]", start)
            elif at >= len(self._text):
                self._fail_unclosed(start)
            value, at = self._parse_value(at, (*path, len(elements)), depth)
            elements.append(value)
            at = self._skip_space(at)
        return elements, at + 1

    def _parse_comma(self, at: int, closing: str, start: int) -> int:
        if at >= len(self._text):
            self._fail_unclosed(start)
        if self._text[at] != ",":
            self._fail(at, f"expected ',' or {closing!r}, found {self._describe_character(at)}")
        after = self._skip_space(at + 1)
        if self._text[after : after + 1] == closing:
            self._fail(at, f"a comma before the closing {closing!r}; remove it")
        return after

    def _parse_key(self, at: int, start: int) -> tuple[str, int]:
        if at >= len(self._text):
            self._fail_unclosed(start)
        if self._text[at] != '"':
            self._fail(at, f"expected a key in double quotes, found {self._describe_character(at)}")
        key, end = self._parse_scalar(at)
        return str(key), end

    def _parse_scalar(self, start: int) -> tuple[Any, int]:
        if self._text[start : start + 1] not in _SCALAR_START:
            self._fail(start, self._explain_missing_value(start))
        try:
            value, end = self._decoder.raw_decode(self._text, start)
        except json.JSONDecodeError as exc:
            self._fail(exc.pos, _explain_string_error(exc.msg) or self._explain_missing_value(start))
        except ValueError:  # int() rejects thousands of digits, and parse_constant NaN and Infinity
            self._fail(
                start, self._explain_missing_value(start, "not a number that JSON has, or one with too many digits")
            )
        if isinstance(value, str):
            self._check_text(value, start)
        elif _WORD.match(self._text, end) or (isinstance(value, float) and math.isinf(value)):
            self._fail(start, "not a number or a word that JSON has, or a number too large")
        return value, end

    def _check_text(self, value: str, start: int) -> None:
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            self._fail(start, "this text holds one half of a surrogate pair (\\ud800 to \\udfff)")

    def _explain_missing_value(self, at: int, otherwise: str = "") -> str:
        if at >= len(self._text):
            return "the text ends where a value should stand"
        if self._text[at] == "'":
            return "JSON takes double quotes, not single ones"
        match = _WORD.match(self._text, at)
        word = match.group() if match else ""
        if word in _INSTEAD_OF:
            return f"{word!r} is not JSON; write {_INSTEAD_OF[word]!r}"
        if word in _NO_NUMBERS:
            return f"JSON has no {word}"
        return otherwise or f"expected a value, found {self._describe_character(at)}"

    def _skip_space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        end = at if match is None else match.end()
        if self._text.startswith(("//", "/*", "#"), end):
            self._fail(end, "JSON has no comments; remove this one")
        return end

    def _describe_character(self, at: int) -> str:
        # one character only: this may be the start of a key or password that lost its quotes
        return repr(self._text[at]) if at < len(self._text) else "the end of the text"

    def _fail_unclosed(self, start: int) -> NoReturn:
        self._fail(start, f"this {self._text[start]!r} is never closed")

    def _fail(self, offset: int, message: str) -> NoReturn:
        line, column = self._source.get_position(offset)
        raise JsonSyntaxError(message, line=line, column=column) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _explain_string_error(message: str) -> str | None:
    """Translate a `json` message about a bad string into advice; None if the error is a different one."""
    if message.startswith("Unterminated string"):
        return "this text has no closing quote"
    if message.startswith("Invalid control character"):
        return "a line break or control character inside a text; write it as an escape such as \\n"
    if message.startswith("Invalid \\"):
        return "a backslash that begins no escape; write \\\\ for a backslash"
    return None
