"""Parses JSON text from clients: strict, limited, and with the position of an error.

Stricter than `json.loads` (RFC 8259, and I-JSON of RFC 7493 where that is silent): a repeated key, NaN, a number out
of range, half of a surrogate pair, and nesting beyond `JSON_DEPTH` are errors.
"""

import json
import math
import sys
from collections import Counter
from typing import Any, NoReturn

from agentcore.config.json_source import JsonSource, JsonSyntaxError
from agentcore.errors import AgentcoreError
from agentcore.json_parts import has_more_json_parts
from agentcore.server.http.server_limits import JSON_DEPTH, JSON_PARTS

_LOCATED_CHARS = 64 * 1024  # in longer texts, an error without a position from the fast parser is reported without one


class JsonTextError(AgentcoreError):
    """The text is not JSON, or not of the accepted kind.

    Args:
        message: The error.
        line: Counted from 1; None: unknown.
        column: Counted from 1, in code points.
        offset: Counted from 0, in code points; in bytes if the bytes are not valid UTF-8.
    """

    def __init__(
        self, message: str, /, *, line: int | None = None, column: int | None = None, offset: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset


class _Unplaced(Exception):  # noqa: N818 - becomes a JsonTextError as soon as its place is known
    """An error from a hook of the parser, which does not know its position."""


def parse_json(data: bytes) -> Any:
    """Return the document in a JSON text in UTF-8.

    Raises:
        JsonTextError: The text is not accepted; the message says why.
    """
    if has_more_json_parts(data, JSON_PARTS):
        raise JsonTextError(f"it has more than {JSON_PARTS:,} values")
    try:
        text = data.decode()
    except UnicodeDecodeError as exc:
        raise JsonTextError(f"byte {data[exc.start]:#04x} is not UTF-8", offset=exc.start) from exc
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        message = f"{exc.msg[:1].lower()}{exc.msg[1:]}" if text else "the body is empty; expected JSON"
        raise JsonTextError(message, line=exc.lineno, column=exc.colno, offset=exc.pos) from exc
    except RecursionError as exc:
        raise _too_deep() from exc
    except _Unplaced as exc:
        raise _locate_error(text, str(exc)) from exc
    except ValueError as exc:  # int() accepts no more digits than this
        raise _locate_error(text, f"a number has more than {sys.get_int_max_str_digits()} digits") from exc
    if text.count("[") + text.count("{") > JSON_DEPTH:
        _refuse_depth(value)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as exc:
            raise _locate_error(text, "a \\u escape is half of a surrogate pair") from exc
    return value


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise _Unplaced(f"the key {twice[:100]!r} stands twice in one object")
    return values


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Unplaced(f"the number {text[:40]} is out of range")
    return number


def _no_constant(name: str) -> NoReturn:
    raise _Unplaced(f"{name} is not JSON")


def _refuse_depth(value: Any) -> None:
    """Check the depth level by level; runs only if a cheap count of brackets shows that it may be too large."""
    level = [value]
    depth = 0
    while level := [part for part in level if type(part) in (dict, list)]:
        depth += 1
        if depth > JSON_DEPTH:
            raise _too_deep()
        level = [child for part in level for child in (part.values() if type(part) is dict else part)]


def _locate_error(text: str, message: str) -> JsonTextError:
    if len(text) <= _LOCATED_CHARS:
        try:
            JsonSource(text)
        except JsonSyntaxError as exc:
            lines = text.split("\n")
            offset = sum(len(line) + 1 for line in lines[: exc.line - 1]) + exc.column - 1
            return JsonTextError(message, line=exc.line, column=exc.column, offset=offset)
    return JsonTextError(message)


def _too_deep() -> JsonTextError:
    return JsonTextError(f"objects and lists are nested more than {JSON_DEPTH} deep")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_reject_duplicate_keys, parse_float=_parse_finite_float, parse_constant=_no_constant
)
