"""Answers from a JSON Schema of settings whether a setting is known, a secret, or harmless."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from agentcore.config.json_source import JsonPath

Schema = dict[str, Any]
Place = Literal["declared", "open", "unknown"]
"""`declared`: the schema names every key of the path; `open`: not every key; `unknown`: nothing may be there."""

_REFERENCE = "#/$defs/"
_BRANCHES = ("anyOf", "oneOf", "allOf")
_DEPTH = 8  # a model may be recursive
_HARMLESS_DEPTH = 3  # nested objects, deeper than settings are
_SECRET = "writeOnly"  # noqa: S105 - a keyword of JSON Schema, no password
_POLICY = "x-policy"
_HARMLESS = "x-harmless"
_MARKS = (_SECRET, _POLICY, _HARMLESS)

_RISKY = (
    *("exec", "command", "args", "env", "path", "dir", "root", "host", "url", "endpoint", "proxy"),
    *("allow", "block", "sandbox", "trust", "protect", "writable", "profile"),
)
"""Parts of names of settings about programs, locations and permissions, which no mark makes harmless. A word that
contains one by accident (`redirects`) only causes an unnecessary confirmation."""


class SettingsSchema:
    """Answers questions about paths in settings.

    Args:
        root: The schema, with its definitions under `$defs`.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root

    def classify_path(self, path: JsonPath) -> Place:
        """Return whether the schema names this path, leaves its name open, or has no such path."""
        if not any(True for _ in self._schemas_at(path)):
            return "unknown"
        ways = ((path[:size], step) for size, step in enumerate(path))
        is_named = all(isinstance(step, int) or self._names_key(way, step) for way, step in ways)
        return "declared" if is_named else "open"

    def is_secret(self, path: JsonPath) -> bool:
        """True if this path or a path above it is a secret."""
        return self._is_marked_on_the_way(path, (_SECRET,))

    def is_harmless(self, path: JsonPath) -> bool:
        """True if a change here needs no confirmation.

        It must be marked, as `x-harmless`, and may only be a boolean, a number or one of a fixed set of
        values: the module's mark alone is not sufficient. An object is harmless if everything in it is.
        `x-policy` here or above overrides it, and so does a name about programs, locations or permissions.
        """
        if not path or not all(isinstance(step, str) and not _is_risky(step) for step in path):
            return False
        if self.classify_path(path) != "declared" or self._is_marked_on_the_way(path, (_SECRET, _POLICY)):
            return False
        return self._is_harmless(list(self._schemas_at(path)), _HARMLESS_DEPTH)

    def accepts_value(self, path: JsonPath, value: Any) -> bool:
        """True if a value has a type that the schema declares: a boolean, a number, one of a fixed set, or an
        object of such. Values that are converted (a text that is read as a number, say) count as no."""
        schemas = list(self._schemas_at(path))
        if isinstance(value, dict):
            return any("properties" in schema for schema in schemas) and all(
                self.accepts_value((*path, key), part) for key, part in value.items()
            )
        return any(_schema_accepts(schema, value) for schema in schemas)

    def may_contain_secret(self, path: JsonPath) -> bool:
        """True if this path is a secret or can contain one."""
        seen: set[int] = set()
        return any(self._contains_secret(schema, seen) for schema in self._schemas_at(path))

    def _is_harmless(self, schemas: list[Schema], depth: int) -> bool:
        given = [schema for schema in schemas if schema.get("type") != "null"]
        return bool(given) and all(self._is_harmless_alone(schema, depth) for schema in given)

    def _is_harmless_alone(self, schema: Schema, depth: int) -> bool:
        if schema.get(_SECRET) or schema.get(_POLICY):
            return False
        if _is_fixed(schema) or schema.get("type") in ("boolean", "integer", "number"):
            return schema.get(_HARMLESS) is True
        parts = schema.get("properties")
        if depth == 0 or not parts or schema.get("additionalProperties") is not False:
            return False
        return all(
            not _is_risky(key) and self._is_harmless(list(self._expand_alternatives(part, frozenset())), depth - 1)
            for key, part in parts.items()
        )

    def _names_key(self, path: JsonPath, key: str) -> bool:
        return any(key in schema.get("properties", {}) for schema in self._schemas_at(path))

    def declared_paths(self) -> list[JsonPath]:
        """Return every path that the schema names, through nested objects; paths inside lists are left out."""
        found: list[JsonPath] = []
        level: list[JsonPath] = [()]
        while level and len(level[0]) < _DEPTH:
            level = [
                (*path, key)
                for path in level
                for key in dict.fromkeys(
                    key for schema in self._schemas_at(path) for key in schema.get("properties", {})
                )
            ]
            found += level
        return found

    def _is_marked_on_the_way(self, path: JsonPath, marks: Iterable[str]) -> bool:
        ways = [path[:size] for size in range(len(path) + 1)]
        return any(schema.get(mark) for way in ways for schema in self._schemas_at(way) for mark in marks)

    def _schemas_at(self, path: JsonPath) -> Iterator[Schema]:
        """Return the schemas that may apply to a value at a path, with references followed and branches separated."""
        current = list(self._expand_alternatives(self.root, frozenset()))
        for step in path:
            below = [inner for schema in current for inner in _child_schemas(schema, step)]
            current = [schema for inner in below for schema in self._expand_alternatives(inner, frozenset())]
        return iter(current)

    def _expand_alternatives(self, schema: Any, seen: frozenset[str]) -> Iterator[Schema]:
        if not isinstance(schema, dict):
            if schema is True:
                yield {}
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference not in seen:
                yield from self._expand_alternatives(self._resolve_reference(schema, reference), seen | {reference})
            return
        branches = [branch for keyword in _BRANCHES for branch in schema.get(keyword, ())]
        own = {key: value for key, value in schema.items() if key not in _BRANCHES}
        if not branches or "properties" in own:
            yield own
        for branch in branches:
            for inner in self._expand_alternatives(branch, seen):
                yield inner | {mark: own[mark] for mark in _MARKS if own.get(mark)}

    def _resolve_reference(self, schema: Schema, reference: str) -> Any:
        target = self.root.get("$defs", {}).get(reference.removeprefix(_REFERENCE), {})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return {**target, **beside} if isinstance(target, dict) else target

    def _contains_secret(self, schema: Schema, seen: set[int]) -> bool:
        if schema.get(_SECRET):
            return True
        for inner in _all_below(schema):
            if id(inner) in seen:
                continue
            seen.add(id(inner))
            if any(self._contains_secret(each, seen) for each in self._expand_alternatives(inner, frozenset())):
                return True
        return False


def _is_risky(name: str) -> bool:
    lowered = name.lower()
    return any(part in lowered for part in _RISKY)


def _is_fixed(schema: Schema) -> bool:
    """True if only values that the schema names can be there, none of which contains others."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return isinstance(values, list) and not any(isinstance(value, dict | list) for value in values)


def _schema_accepts(schema: Schema, value: Any) -> bool:
    if _is_fixed(schema):
        values = [schema["const"]] if "const" in schema else schema["enum"]
        return any(value == known and isinstance(value, bool) == isinstance(known, bool) for known in values)
    if value is None or isinstance(value, bool):
        return bool(schema.get("type") == ("null" if value is None else "boolean"))
    return isinstance(value, int | float) and schema.get("type") in ("integer", "number")


def _child_schemas(schema: Schema, step: str | int) -> Iterator[Any]:
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
    elif "patternProperties" in schema:
        # matching or not: the patterns are a module's, and are never run here
        yield from schema["patternProperties"].values()
    elif "additionalProperties" in schema:
        yield schema["additionalProperties"]
    elif _is_open(schema):
        yield True


def _is_open(schema: Schema) -> bool:
    """True if a schema does not restrict nested values."""
    return not any(key in schema for key in ("type", "properties", "items", "prefixItems", "enum", "const"))


def _all_below(schema: Schema) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("patternProperties", {}).values()
    yield from schema.get("prefixItems", ())
    yield from (schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict))
