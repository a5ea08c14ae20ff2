"""What a JSON Schema of settings says about one place: is it known, is it a secret, does it say what is allowed."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from agentcore.host.json_source import JsonPath

Schema = dict[str, Any]
Place = Literal["declared", "open", "unknown"]
"""`declared`: the schema names every key on the way; `open`: not every key; `unknown`: nothing may stand there."""

_REFERENCE = "#/$defs/"
_BRANCHES = ("anyOf", "oneOf", "allOf")
_DEPTH = 8  # a model may hold itself
_SECRET, _POLICY = "writeOnly", "x-policy"


class SettingsSchema:
    """Answers questions about places in settings.

    Args:
        root: The schema, with its definitions under `$defs`.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root

    def place(self, path: JsonPath) -> Place:
        """Whether the schema names this place, leaves its name open, or has no such place."""
        if not any(True for _ in self._at(path)):
            return "unknown"
        ways = ((path[:size], step) for size, step in enumerate(path))
        is_named = all(isinstance(step, int) or self._names(way, step) for way, step in ways)
        return "declared" if is_named else "open"

    def is_secret(self, path: JsonPath) -> bool:
        """Whether a secret stands here or around it."""
        return self._is_marked_on_the_way(path, (_SECRET,))

    def is_policy(self, path: JsonPath) -> bool:
        """Whether a change here changes a secret or what is allowed: this place, one around it, or one inside."""
        if self._is_marked_on_the_way(path, (_SECRET, _POLICY)):
            return True
        return self._holds_mark_below(path, (_SECRET, _POLICY))

    def holds_secret(self, path: JsonPath) -> bool:
        """Whether a secret stands here or can stand inside."""
        return self._holds_mark_below(path, (_SECRET,))

    def _holds_mark_below(self, path: JsonPath, marks: tuple[str, ...]) -> bool:
        seen: set[int] = set()
        return any(self._holds_mark(schema, marks, seen) for schema in self._at(path))

    def _names(self, path: JsonPath, key: str) -> bool:
        return any(key in schema.get("properties", {}) for schema in self._at(path))

    def declared(self) -> list[JsonPath]:
        """Every place that the schema names, through objects inside of objects; what is inside of lists is left out."""
        found: list[JsonPath] = []
        level: list[JsonPath] = [()]
        while level and len(level[0]) < _DEPTH:
            level = [
                (*path, key)
                for path in level
                for key in dict.fromkeys(key for schema in self._at(path) for key in schema.get("properties", {}))
            ]
            found += level
        return found

    def _is_marked_on_the_way(self, path: JsonPath, marks: Iterable[str]) -> bool:
        ways = [path[:size] for size in range(len(path) + 1)]
        return any(schema.get(mark) for way in ways for schema in self._at(way) for mark in marks)

    def _at(self, path: JsonPath) -> Iterator[Schema]:
        """The schemas that a value at a path may have to meet, references followed and branches told apart."""
        current = list(self._alternatives(self.root, frozenset()))
        for step in path:
            below = [inner for schema in current for inner in _below(schema, step)]
            current = [schema for inner in below for schema in self._alternatives(inner, frozenset())]
        return iter(current)

    def _alternatives(self, schema: Any, seen: frozenset[str]) -> Iterator[Schema]:
        if not isinstance(schema, dict):
            if schema is True:
                yield {}
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in seen:
                yield from self._alternatives(self._resolved(schema, reference), seen | {reference})
            return
        branches = [branch for keyword in _BRANCHES for branch in schema.get(keyword, ())]
        own = {key: value for key, value in schema.items() if key not in _BRANCHES}
        if not branches or "properties" in own:
            yield own
        for branch in branches:
            for inner in self._alternatives(branch, seen):
                yield inner | {mark: True for mark in (_SECRET, _POLICY) if own.get(mark)}

    def _resolved(self, schema: Schema, reference: str) -> Any:
        target = self.root.get("$defs", {}).get(reference.removeprefix(_REFERENCE), {})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**target, **beside} if isinstance(target, dict) else target

    def _holds_mark(self, schema: Schema, marks: tuple[str, ...], seen: set[int]) -> bool:
        if any(schema.get(mark) for mark in marks):
            return True
        for inner in _all_below(schema):
            if id(inner) in seen:
                continue
            seen.add(id(inner))
            if any(
                self._holds_mark(alternative, marks, seen) for alternative in self._alternatives(inner, frozenset())
            ):
                return True
        return False


def _below(schema: Schema, step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        tuple_items = schema.get("prefixItems", ())
        if step < len(tuple_items):
            yield tuple_items[step]
        elif "items" in schema or _is_open(schema):
            yield schema.get("items", True)
        return
    properties = schema.get("properties", {})
    if step in properties:
        yield properties[step]
    elif "additionalProperties" in schema:
        yield schema["additionalProperties"]
    elif _is_open(schema):
        yield True


def _is_open(schema: Schema) -> bool:
    """Whether a schema says nothing about what is inside."""
    return not any(key in schema for key in ("type", "properties", "items", "prefixItems", "enum", "const"))


def _all_below(schema: Schema) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("prefixItems", ())
    yield from (schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))
