"""Strict parsing of JSON text from outside: valid text only, with limited depth."""

import json
import math
from typing import Any, NoReturn

from agentcore.limits import ARGUMENTS_DEPTH
from agentcore.valid_text import with_valid_text


def decode_at(text: str, start: int) -> tuple[Any, int]:
    """Parse the JSON value at an offset of a text; return it and its end.

    Raises:
        ValueError: There is no value, it contains a number that is not valid in JSON, or it is nested too deeply.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError as exc:
        raise _too_deep() from exc
    _check_depth(value)
    return with_valid_text(value), end


def decode_json(text: str) -> Any:
    """Parse a text that is one JSON value.

    Raises:
        ValueError: As for `decode_at`, or more text follows the value.
    """
    value, end = decode_at(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise ValueError(f"there is more after the JSON value, from character {end} on")
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    depth = 0
    while level := [part for part in level if isinstance(part, dict | list)]:
        depth += 1
        if depth > ARGUMENTS_DEPTH:
            raise _too_deep()
        level = [child for part in level for child in (part.values() if isinstance(part, dict) else part)]


def _too_deep() -> ValueError:
    return ValueError(f"objects and lists are nested more than {ARGUMENTS_DEPTH} deep")


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_parse_finite, parse_constant=_no_constant)
