"""Copies values of a module into plain values, so that the core stores no object of a module.

A plain value is None, a bool, an int, a finite float, a text that UTF-8 can encode, or a list or a dict with texts as
keys of such, each of exactly that type. A subclass is copied without running its code, so neither a `__str__` that
raises nor a dict that changes later reaches readers of the copy. Size, depth and cycles are bounded.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import NoneType
from typing import Any

from agentcore.core.module_code.module_error import reason_of, type_name
from agentcore.errors import AgentcoreError
from agentcore.limits import PLAIN_CHARS, PLAIN_DEPTH, PLAIN_PARTS
from agentcore.valid_text import valid_text

_INT_BITS = 1024
_STEP_CHARS = 100


class NotPlainError(AgentcoreError):
    """A value contains something other than plain values.

    Attributes:
        path: Where, such as `properties.city`; empty: the value itself.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = ""

    def add_path_step(self, step: str) -> None:
        """Note that it was found below this key or index."""
        self.path = step + self.path if self.path[:1] in ("", "[") else f"{step}.{self.path}"

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


def copy_plain(value: object, *, limit_chars: int = PLAIN_CHARS, mends_text: bool = False) -> Any:
    """Return a copy of plain values.

    Args:
        value: The value of a module.
        limit_chars: Limit of all its text.
        mends_text: True to repair text that is not valid Unicode; else it is refused.
    Raises:
        NotPlainError: It contains something else, or too much; the message says where.
    """
    return _Copy(limit_chars, is_strict=True, mends_text=mends_text).copy_value(value, PLAIN_DEPTH)


def copy_for_display(value: object, *, limit_chars: int = PLAIN_CHARS) -> Any:
    """A copy of plain values, in which whatever is none is replaced by a word about it, such as `[Path]`."""
    return _Copy(limit_chars, is_strict=False, mends_text=True).copy_value(value, PLAIN_DEPTH)


def plain_text(value: str) -> str:
    """Return a text of exactly the type `str`, also for a subclass, made valid."""
    return valid_text(value if type(value) is str else str.__str__(value))


class _Copy:
    """One copy in progress; counts its parts, so that cycles and floods end."""

    __slots__ = ("_chars", "_is_strict", "_mends_text", "_parts")

    def __init__(self, limit_chars: int, *, is_strict: bool, mends_text: bool) -> None:
        self._chars = limit_chars
        self._parts = PLAIN_PARTS
        self._is_strict = is_strict
        self._mends_text = mends_text

    def copy_value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self._parts -= 1
        if self._parts < 0:
            return self._reject_or_replace(f"more than {PLAIN_PARTS:,} parts", "…")
        if kind is NoneType or kind is bool:
            return value
        if issubclass(kind, str):
            return self._copy_text(value)
        return self._copy_number(value) if issubclass(kind, int | float) else self._copy_container(value, depth)

    def _copy_container(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if not issubclass(kind, dict | list | tuple | Mapping):
            return self._reject_or_replace(f"{type_name(value)} is no JSON value", f"[{type_name(value)}]")
        if depth == 0:
            return self._reject_or_replace(f"nested more than {PLAIN_DEPTH} deep", "…")
        if issubclass(kind, dict):
            return self._copy_mapping(value, dict.items, depth - 1)
        if issubclass(kind, list | tuple):
            return self._copy_list(iter(value), depth - 1)
        return self._copy_mapping(value, kind.items, depth - 1)

    def _copy_text(self, value: str) -> Any:
        self._chars -= len(value)
        if self._chars < 0:
            return self._reject_or_replace("too much text", "…")
        text = value if type(value) is str else str.__str__(value)
        valid = valid_text(text)
        if valid is text or self._mends_text:
            return valid
        return self._reject_or_replace("half of a character (a lone surrogate)", valid)

    def _copy_number(self, value: Any) -> Any:
        if isinstance(value, float):
            real = float.__float__(value)
            return real if math.isfinite(real) else self._reject_or_replace(f"{real} is no number of JSON", None)
        number = value if type(value) is int else int.__int__(value)
        if number.bit_length() <= _INT_BITS:
            return number
        return self._reject_or_replace(f"an integer of more than {_INT_BITS} bits", None)

    def _copy_list(self, items: Iterator[Any], depth: int) -> list[Any]:
        found: list[Any] = []
        try:
            for part in islice(items, PLAIN_PARTS):
                found.append(self.copy_value(part, depth))  # noqa: PERF401 - its length is where a fault was
        except NotPlainError as exc:
            exc.add_path_step(f"[{len(found)}]")
            raise
        return found

    def _copy_mapping(self, value: Any, items: Callable[[Any], Any], depth: int) -> Any:
        found: dict[str, Any] = {}
        name = ""
        try:
            for key, part in islice(items(value), PLAIN_PARTS):
                name = ""
                name = self._copy_key(key)
                found[name] = self.copy_value(part, depth)
        except NotPlainError as exc:
            if name:
                exc.add_path_step(name[:_STEP_CHARS])
            raise
        except Exception as exc:  # noqa: BLE001 - a mapping of the module's own, or one that changes meanwhile
            return self._reject_or_replace(f"it cannot be read: {reason_of(exc)}", "…")
        return found

    def _copy_key(self, key: Any) -> str:
        if isinstance(key, str):
            return str(self._copy_text(key))
        return str(self._reject_or_replace(f"a key of type {type_name(key)}, not text", f"[{type_name(key)}]"))

    def _reject_or_replace(self, problem: str, instead: Any) -> Any:
        if self._is_strict:
            raise NotPlainError(problem)
        return instead
