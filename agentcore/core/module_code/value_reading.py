"""Single values that a module hands over, each read strictly, once, into a plain value of exactly one type.

Each function raises `WrongValueError` for what is something else, and `TypeError` for what is not plain, or too much.
"""

import math
import re
from typing import Any

from pydantic import BaseModel

from agentcore.core.module_code.module_error import type_name
from agentcore.core.module_code.plain_values import NotPlainError, copy_plain
from agentcore.limits import TEXT_READ_CHARS

_SHOWN_CHARS = 80
_SHOWN_BITS = 256
LANGUAGES = ("en", "zh")
_LISTS = (list, tuple, set, frozenset)


class WrongValueError(TypeError):
    """A module passed a value other than expected; the message names both, and the location."""

    def __init__(self, where: str, expected: str, found: object) -> None:
        super().__init__(f"{where} must be {expected}, not {_describe_value(found)}")


def read_text(
    value: Any, where: str, expected: str = "text", *, pattern: re.Pattern[str] | None = None, is_empty_ok: bool = True
) -> str:
    """Return a text of at most `TEXT_READ_CHARS` that UTF-8 can encode.

    Args:
        value: The value of a module.
        where: What it is, for the message: `title of module 'weather'`.
        expected: What is expected, for the message.
        pattern: Must match the complete text.
        is_empty_ok: True if it may be empty, or blank.
    """
    if not isinstance(value, str):
        raise WrongValueError(where, expected, value)
    text: str = read_plain(value, where)
    if len(text) > TEXT_READ_CHARS:
        raise WrongValueError(where, f"at most {TEXT_READ_CHARS:,} characters", text)
    if pattern is not None and not pattern.fullmatch(text):
        raise WrongValueError(where, f"{expected} that matches {pattern.pattern}", text)
    if not is_empty_ok and not text.strip():
        raise WrongValueError(where, f"{expected} that is not empty", text)
    return text


def read_texts(value: Any, where: str, expected: str, *, pattern: re.Pattern[str] | None = None) -> tuple[str, ...]:
    """A list (or tuple, or set) of texts, each as `read_text` reads it. One text is no list of its letters."""
    if not isinstance(value, _LISTS):
        raise WrongValueError(where, f"a list or tuple of {expected}", value)
    return tuple([read_text(one, f"each of {where}", expected, pattern=pattern) for one in value])


def read_flag(value: Any, where: str) -> bool:
    """True or False, and nothing that is merely like it."""
    if type(value) is not bool:
        raise WrongValueError(where, "True or False", value)
    return value


def read_number(value: Any, where: str, *, low: float, high: float) -> float:
    """A finite number above `low` and at most `high`."""
    expected = f"a number above {low:g} and at most {high:g}"
    if type(value) is bool or not isinstance(value, int | float):
        raise WrongValueError(where, expected, value)
    number = plain_number(value)
    if not (math.isfinite(number) and low < number <= high):
        raise WrongValueError(where, expected, number)
    return number


def plain_number(value: float) -> float:
    """A number as exactly a float; infinity where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def read_title(value: Any, where: str) -> str | dict[str, str]:
    """A title: a text, or a mapping from language (`en`, `zh`) to text."""
    expected = "text, or a mapping from language (en, zh) to text"
    if isinstance(value, str):
        return read_text(value, where, is_empty_ok=False)
    found = read_plain(value, where)
    if type(found) is not dict or not found or not set(found) <= set(LANGUAGES):
        raise WrongValueError(where, expected, found)
    return {language: read_text(text, f"{where} ({language})", is_empty_ok=False) for language, text in found.items()}


def read_mapping(
    value: Any, where: str, expected: str = "a mapping from text to JSON values", *, mends_text: bool = False
) -> dict[str, Any]:
    """Return a mapping of plain values; `mends_text` repairs text that is not valid Unicode, such as a page's."""
    found = read_plain(value, where, mends_text=mends_text)
    if type(found) is not dict:
        raise WrongValueError(where, expected, found)
    return found


def read_model(value: Any, where: str) -> type[BaseModel] | None:
    """A class of pydantic's, or None."""
    if value is not None and not (isinstance(value, type) and issubclass(value, BaseModel)):
        raise WrongValueError(where, "a pydantic model, or None", value)
    return value


def read_plain(value: Any, where: str, *, mends_text: bool = False) -> Any:
    """A copy of plain values, as `plain` makes it."""
    try:
        return copy_plain(value, mends_text=mends_text)
    except NotPlainError as exc:
        at = f"{where}: {exc.path}" if exc.path else where
        raise TypeError(f"{at}: {exc.problem}") from None


def _describe_value(value: object) -> str:
    """A value in a message: by itself if it is plain, else by its type; never by code of its own."""
    kind = type(value)
    if kind in (str, int, float, bool, type(None)):
        text = "a huge integer" if isinstance(value, int) and value.bit_length() > _SHOWN_BITS else repr(value)
        return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    return f"a value of type {type_name(value)}"
