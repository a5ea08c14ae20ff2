"""Compiles JSON Schemas from outside: without reading other documents, with patterns that match in linear time."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agentcore.core.modules.schema_work import SchemaWork, follow_reference, item_of
from agentcore.limits import (
    EXPLAINED_STEPS,
    SCHEMA_DEPTH,
    SCHEMA_NODES,
    SCHEMA_PATTERN_BYTES,
    VALIDATION_ERRORS,
    VALIDATION_STEPS,
)
from agentcore.near_names import closest_name

Validate = Callable[[Any], list[dict[str, str]]]
"""Gives what is wrong with a value, as `{path, message}`; nothing: all is right."""

_DATA = frozenset(("const", "default", "enum", "example", "examples"))
_MAPS = frozenset(("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"))
_MESSAGE_CHARS = 500


def compile_schema(schema: dict[str, Any], *, unknown: str = "is not allowed here") -> Validate:
    """Create a function that validates values against a schema.

    Patterns that do not match in linear time (with a look-around or a back-reference), or that are written in another
    dialect of regular expressions, are not checked: whoever wrote the schema checks them.

    Args:
        unknown: Creates the message for a key that the schema does not allow.
    Raises:
        ValueError: It is not a valid JSON Schema, refers to another document, or validation could take unlimited time.
    """
    validator = _create_validator(schema)
    try:
        work = SchemaWork(schema)
    except ValueError as exc:
        raise ValueError(f"it is no JSON Schema that can be used: {exc}") from exc

    def validate(value: Any) -> list[dict[str, str]]:
        steps = work.count_steps(value)
        if steps > VALIDATION_STEPS:
            return [{"path": "", "message": "is too much to be held against the schema; give less at once"}]
        if validator.is_valid(value):
            return []
        errors: Iterable[Any]
        if steps <= EXPLAINED_STEPS:
            errors = validator.iter_errors(value)
        elif work.has_choices:
            return [{"path": "", "message": "is not what the schema wants; give less at once to be told where"}]
        else:
            errors = _first_error(validator, value)
        faults = (fault for error in errors for fault in _faults_of(error, schema, unknown))
        return [
            {"path": path_of(path), "message": message[:_MESSAGE_CHARS]}
            for path, message in itertools.islice(faults, VALIDATION_ERRORS)
        ]

    return validate


def describe_unknown_key(name: str, known: Iterable[str], unknown: str) -> str:
    """Describe an unknown key, with a suggestion."""
    near = closest_name(name, known)
    return unknown if near is None else f"{unknown}; did you mean {near!r}?"


def _create_validator(schema: dict[str, Any]) -> Any:
    """Create the library's validator, without the patterns that it cannot match.

    Raises:
        ValueError: The schema is not valid for another reason.
    """
    import jsonschema_rs  # noqa: PLC0415 - 16 ms and 2 MiB that the server's first answer does without

    errors = (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError)
    options = jsonschema_rs.RegexOptions(size_limit=SCHEMA_PATTERN_BYTES)

    def create(checked: dict[str, Any]) -> Any:
        return jsonschema_rs.validator_for(checked, pattern_options=options, offline=True)

    def can_match(pattern: str) -> bool:
        try:
            create({"pattern": pattern})
        except errors:
            return False
        return True

    try:
        return create(schema)
    except errors:
        try:
            return create(_without_patterns(schema, can_match, 0))
        except errors as exc:
            path = path_of(getattr(exc, "instance_path", ()))
            message = str(getattr(exc, "message", exc)).partition("\n")[0][:_MESSAGE_CHARS]
            raise ValueError(f"it is no JSON Schema that can be used: {path + ': ' if path else ''}{message}") from exc


def _without_patterns(part: Any, can_match: Callable[[str], bool], depth: int, *, is_map: bool = False) -> Any:
    """Return a schema without the patterns that cannot be matched.

    Args:
        is_map: The part maps names to schemas, so that its keys are no keywords.
    """
    if depth > SCHEMA_DEPTH:
        return part
    if isinstance(part, list):
        return [_without_patterns(each, can_match, depth + 1) for each in part]
    if not isinstance(part, dict):
        return part
    kept: dict[str, Any] = {}
    for name, value in part.items():
        if is_map or name not in _DATA | {"pattern", "patternProperties"}:
            kept[name] = _without_patterns(value, can_match, depth + 1, is_map=not is_map and name in _MAPS)
        elif name == "patternProperties" and isinstance(value, dict):
            usable = {key: each for key, each in value.items() if can_match(key)}
            kept[name] = _without_patterns(usable, can_match, depth + 1, is_map=True)
        elif name != "pattern" or not isinstance(value, str) or can_match(value):
            kept[name] = value
    if not is_map and len(kept.get("patternProperties") or ()) < len(part.get("patternProperties") or ()):
        # keys that such a pattern allows would be refused
        kept.pop("additionalProperties", None)
        kept.pop("unevaluatedProperties", None)
    return kept


def check_cost(schema: dict[str, Any]) -> int:
    """Check that validation against a schema takes a bounded time; return the number of its patterns.

    Raises:
        ValueError: With all references resolved it is too large or too deep, or a reference cannot be followed.
    """
    cost = _Cost(schema)
    if cost.count_parts(schema, 0) > SCHEMA_NODES:
        raise ValueError(f"with all that it refers to it has more than {SCHEMA_NODES:,} parts; make it simpler")
    return cost.patterns


def path_of(parts: Any) -> str:
    """Return a location in a JSON value, such as `items[0].name`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _first_error(validator: Any, value: Any) -> list[Any]:
    """The first error of a value alone; the validator's own `iter_errors` collects all of them at once."""
    import jsonschema_rs  # noqa: PLC0415 - as above

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as exc:
        return [exc]
    return []


def _faults_of(error: Any, schema: dict[str, Any], unknown: str) -> Iterator[tuple[list[Any], str]]:
    """Return the messages of an error, each with its location: for a missing or unknown key, that of the key."""
    place = list(error.instance_path)
    kind = error.kind.name
    if kind == "required":
        yield [*place, error.kind.property], "is required"
    elif kind == "additionalProperties":
        known = _keys_beside(schema, error.schema_path)
        for name in error.kind.unexpected:
            yield [*place, name], describe_unknown_key(name, known, unknown)
    else:
        yield place, error.message


def _keys_beside(schema: Any, path: Sequence[Any]) -> Iterable[str]:
    """The keys of an object's schema, by the path of one of its keywords."""
    part = schema
    for step in list(path)[:-1]:
        part = part.get(step) if isinstance(part, dict) else item_of(part, str(step))
    return part.get("properties", {}) if isinstance(part, dict) else ()


class _Cost:
    """Counts the parts of a schema, those that it refers to as often as it does."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self.patterns = 0

    def count_parts(self, part: Any, depth: int) -> int:
        """Return the number of parts; a recursive one is counted once, because the validator follows it step by
        step."""
        if not isinstance(part, dict | list):
            return 0
        if id(part) not in self._known:
            if depth > SCHEMA_DEPTH:
                raise ValueError(f"its parts, or what they refer to, are nested more than {SCHEMA_DEPTH} deep")
            self._known[id(part)] = 0
            self._known[id(part)] = 1 + sum(self.count_parts(child, depth + 1) for child in self._child_schemas(part))
        return self._known[id(part)]

    def _child_schemas(self, part: dict[str, Any] | list[Any]) -> Iterator[Any]:
        if isinstance(part, list):
            yield from part
            return
        for name, value in part.items():
            if name in _MAPS and isinstance(value, dict):
                self.patterns += len(value) if name == "patternProperties" else 0
                yield from value.values()
            elif name == "$ref" and isinstance(value, str):
                yield follow_reference(self._root, value)
            elif name in {"$dynamicRef", "$recursiveRef"} or (name == "$id" and part is not self._root):
                raise ValueError(f"{name} is not taken here; refer to a part with $ref, as in '#/$defs/NAME'")
            elif name not in _DATA:
                self.patterns += name == "pattern"
                yield value
