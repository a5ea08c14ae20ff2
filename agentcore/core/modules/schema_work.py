"""Computes the cost of validating a value against a JSON Schema beforehand, because validation blocks the event
loop."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agentcore.limits import SCHEMA_DEPTH, SCHEMA_NODES, VALIDATION_STEPS

_Key = str | None
"""A key of objects, `_ITEM` for any item of a list; None: any possible key."""

_ITEM = "[]"
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not")
_SAME_VALUE_MAPS = ("dependentSchemas", "dependencies")
_ITEMS = ("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems")
_ANY_KEY = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_TWICE = frozenset(("unevaluatedItems", "unevaluatedProperties"))
"""To find unevaluated parts, the validator processes the rest of the schema once more."""

_REPEATS = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_CHARS_A_STEP = 16
"""States of a pattern times characters that take about as long as one part of a schema applied to one value."""


class _Load(NamedTuple):
    """The cost of one value, or of a nested one.

    Args:
        parts: Parts of the schema that apply to it.
        loops: References back to an enclosing part.
        top: The depth of the outermost part that they refer to.
    """

    parts: int = 0
    loops: int = 0
    top: int = SCHEMA_DEPTH

    def plus(self, other: "_Load") -> "_Load":
        """Both of them."""
        return _Load(self.parts + other.parts, self.loops + other.loops, min(self.top, other.top))


class SchemaWork:
    """The work that a schema makes.

    Args:
        schema: A valid one.
    Raises:
        ValueError: With all that it refers to it is too large or too deep, refers to something in a way that cannot be
            followed, or leads one value back to itself in several ways, which doubles the work with each level.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema
        self._left = SCHEMA_NODES
        self._texts: dict[_Key, int] = {}
        self._names = 0
        self.has_choices = False
        """True if there can be one error for each alternative."""
        self._parts = max(1, self._measure_total(schema, _ITEM, {}).parts)

    def count_steps(self, value: Any) -> int:
        """Return the maximum number of parts that apply to a JSON value and its nested values, counted up to the
        limit."""
        steps = 0
        left: list[tuple[_Key, Any]] = [(_ITEM, value)]
        any_key = self._texts.get(None, 0)
        while left and steps <= VALIDATION_STEPS:
            key, each = left.pop()
            steps += self._parts
            if isinstance(each, str):
                steps += (self._texts.get(key, 0) + any_key) * len(each) // _CHARS_A_STEP
            elif isinstance(each, dict):
                left += each.items()
                if self._names:
                    steps += self._names * sum(map(len, each)) // _CHARS_A_STEP
            elif isinstance(each, list):
                left += ((_ITEM, item) for item in each)
        return steps

    def _measure_total(self, part: Any, key: _Key, around: dict[int, int]) -> _Load:
        """The load of a value at a key, with that of the values inside of it."""
        return _largest_load(*self._measure_value(part, key, around))

    def _measure_value(self, part: Any, key: _Key, around: dict[int, int]) -> tuple[_Load, dict[_Key, _Load]]:
        """The load of a value, and by key that of those right inside of it."""
        if not isinstance(part, dict):
            return _Load(1), {}
        if id(part) in around:
            return _Load(1, 1, around[id(part)]), {}
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"with all that it refers to it has more than {SCHEMA_NODES:,} parts; make it simpler")
        if part is not self._root and any(isinstance(part.get(name), str) for name in ("$id", "id")):
            raise ValueError("a part with an $id of its own is not taken here; refer to it as in '#/$defs/NAME'")
        depth = len(around)
        if depth >= SCHEMA_DEPTH:
            raise ValueError(f"its parts, or what they refer to, are nested more than {SCHEMA_DEPTH} deep")
        self._count_patterns(part, key)
        self.has_choices = self.has_choices or "anyOf" in part or "oneOf" in part
        below = {**around, id(part): depth}
        own = _Load(1 + len(_required_keys(part)))
        inside = dict[_Key, _Load]()
        for child in self._same_value(part):
            load, deeper = self._measure_value(child, key, below)
            own = own.plus(load)
            for name, each in deeper.items():
                inside[name] = inside.get(name, _Load()).plus(each)
        for name, child in _child_schemas(part):
            inside[name] = inside.get(name, _Load()).plus(self._measure_total(child, name, below))
        if not _TWICE.isdisjoint(part):
            own = own.plus(own)
            inside = {name: each.plus(each) for name, each in inside.items()}
        return _close_loops(own, inside, depth)

    def _same_value(self, part: dict[str, Any]) -> Iterator[Any]:
        for name in _SAME_VALUE:
            held = part.get(name, [])
            yield from held if isinstance(held, list) else (held,)
        for name in _SAME_VALUE_MAPS:
            yield from (each for each in part.get(name, {}).values() if isinstance(each, dict))
        if isinstance(part.get("$ref"), str):
            yield follow_reference(self._root, part["$ref"])
        for name in ("$dynamicRef", "$recursiveRef"):
            if name in part:
                raise ValueError(f"{name} is not taken here; refer to a part with $ref, as in '#/$defs/NAME'")

    def _count_patterns(self, part: dict[str, Any], key: _Key) -> None:
        if "pattern" in part:
            self._texts[key] = self._texts.get(key, 0) + count_states(part["pattern"])
        self._names += sum(map(count_states, part.get("patternProperties", ())))
        names = part.get("propertyNames")
        if isinstance(names, dict):
            self._names += count_states(names.get("pattern", ""))


def _largest_load(own: _Load, inside: dict[_Key, _Load]) -> _Load:
    """The load of a value with that of the values inside of it, of which each has one key."""
    wild = inside.get(None, _Load())
    loads = [each if name == _ITEM else each.plus(wild) for name, each in inside.items() if name is not None]
    loads = [own.plus(each) for each in (*loads, wild)]
    return _Load(max(each.parts for each in loads), max(each.loops for each in loads), min(e.top for e in loads))


def _close_loops(own: _Load, inside: dict[_Key, _Load], depth: int) -> tuple[_Load, dict[_Key, _Load]]:
    """The same without the ways back to the part at a depth, if none leads further out.

    Raises:
        ValueError: There are several for one value.
    """
    most = _largest_load(own, inside)
    if most.loops > 1:
        raise ValueError("it leads one value back to the same part in more than one way, which doubles with each level")
    if most.top < depth:
        return own, inside
    closed = {name: each._replace(loops=0, top=SCHEMA_DEPTH) for name, each in inside.items()}
    return own._replace(loops=0, top=SCHEMA_DEPTH), closed


def follow_reference(root: dict[str, Any], reference: str) -> Any:
    """The part of a schema that a `$ref` in it means; None: there is none.

    Raises:
        ValueError: It means another document, or a part by a name of its own.
    """
    if reference != "#" and not reference.startswith("#/"):
        raise ValueError(f"{reference[:100]!r} is no place in the schema itself; refer to one as in '#/$defs/NAME'")
    part: Any = root
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        part = part.get(name) if isinstance(part, dict) else item_of(part, name)
    return part


def item_of(part: Any, name: str) -> Any:
    """The item of a list by its number as text; None: there is none."""
    is_there = isinstance(part, list) and name.isascii() and name.isdigit() and int(name) < len(part)
    return part[int(name)] if is_there else None


def count_states(pattern: str) -> int:
    """About how many states a pattern has, by which its time for each character grows; repeats count each time."""
    groups = [0]
    last = 0
    at = 0
    while at < len(pattern):
        char = pattern[at]
        repeat = _REPEATS.match(pattern, at) if char == "{" else None
        if repeat is not None:
            times = max(int(each[:6]) for each in repeat.groups() if each)
            groups[-1] += last * (times - 1)
            last *= max(times, 1)
            at = repeat.end()
            continue
        if char == "(":
            groups.append(0)
        elif char == ")" and len(groups) > 1:
            last = groups.pop() + 1
            groups[-1] += last
        else:
            last = 1
            groups[-1] += last
        at += 2 if char == "\\" else 1
    return 1 + sum(groups)


def _child_schemas(part: dict[str, Any]) -> Iterator[tuple[_Key, Any]]:
    """The schemas of what is inside of a value, each with its key."""
    yield from part.get("properties", {}).items()
    for child in part.get("patternProperties", {}).values():
        yield None, child
    for name in _ANY_KEY:
        if name in part:
            yield None, part[name]
    for name in _ITEMS:
        held = part.get(name, [])
        for child in held if isinstance(held, list) else (held,):
            yield _ITEM, child


def _required_keys(part: dict[str, Any]) -> list[Any]:
    required = part.get("required", [])
    return required if isinstance(required, list) else []
