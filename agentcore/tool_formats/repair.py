"""Repair arguments from models where their meaning is unambiguous.

Models send `null` for omitted arguments, as strict schemas require, and lists and objects as JSON text, and write names
that they know from other products. Only values and names that the schema rejects are changed: valid arguments are
kept, and a string is kept wherever a string is allowed.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentcore.strict_json import decode_json
from agentcore.tool_formats.aliases import rename_arguments
from agentcore.tool_formats.merging import merge_all_of

_JSON_TYPES: Mapping[type, frozenset[str]] = {
    type(None): frozenset(("null",)),
    bool: frozenset(("boolean",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    str: frozenset(("string",)),
    list: frozenset(("array",)),
    dict: frozenset(("object",)),
}
_OF_JSON = re.compile(r"[ \t\r\n]*[\[{]")
"""The beginning of a list or an object as JSON text."""
_ALL_TYPES = frozenset(name for names in _JSON_TYPES.values() for name in names)


def repair_arguments(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a repaired copy of a model's arguments.

    Args:
        arguments: The arguments from the model; they are not modified.
        schema: The schema of the tool, with its references inlined.
    """
    repaired: dict[str, Any] = _repair_value(arguments, schema)
    return repaired


def _repair_value(value: Any, schema: Any) -> Any:
    # most values: a look at their schema would cost more than the rest of the repair
    if not isinstance(value, str | list | dict) or (isinstance(value, str) and not _OF_JSON.match(value)):
        return value
    part = _find_alternative(value, merge_all_of(schema)) if isinstance(schema, dict) else None
    if part is None:
        return value
    if isinstance(value, str):
        decoded = _decode_text(value, schema)
        return value if decoded is None else _repair_value(decoded, schema)
    if isinstance(value, dict):
        return _repair_object(rename_arguments(value, part), part)
    items = part.get("items")
    return [_repair_value(each, items) for each in value] if isinstance(items, dict) else value


def _repair_object(value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    others = None if "patternProperties" in schema else schema.get("additionalProperties")
    repaired = {}
    for name, each in value.items():
        part = properties.get(name, others)
        is_optional = name in properties and name not in required
        if each is None and is_optional and "null" not in _allowed_types(part):
            continue
        repaired[name] = _repair_value(each, part)
    return repaired


def _decode_text(value: str, schema: dict[str, Any]) -> Any:
    """Decode JSON text where only a list or object is allowed; None if it is not such text."""
    requested = _allowed_types(schema)
    if "string" in requested or not requested & {"array", "object"}:
        return None
    try:
        decoded = decode_json(value)
    except ValueError:
        return None
    return decoded if isinstance(decoded, list | dict) and _JSON_TYPES[type(decoded)] <= requested else None


def _find_alternative(value: Any, schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the only alternative that a value can match; None if there are several, or none."""
    choices = next((schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), None)
    # the properties next to a choice apply to each of its schemas
    if choices is None or isinstance(value, str) or "properties" in schema:
        return schema
    fitting = [each for each in choices if isinstance(each, dict) and _can_match(value, merge_all_of(each))]
    return _find_alternative(value, merge_all_of(fitting[0])) if len(fitting) == 1 else None


def _can_match(value: Any, schema: dict[str, Any]) -> bool:
    if not _JSON_TYPES.get(type(value), frozenset()) & _allowed_types(schema):
        return False
    properties = schema.get("properties", {}) if isinstance(value, dict) else {}
    fixed = {name: part["const"] for name, part in properties.items() if isinstance(part, dict) and "const" in part}
    return all(name not in value or value[name] == requested for name, requested in fixed.items())


def _allowed_types(schema: Any) -> frozenset[str]:
    """Return the types of values that a schema may accept."""
    if not isinstance(schema, dict):
        return _ALL_TYPES
    schema = merge_all_of(schema)
    found = _ALL_TYPES
    for types in _declared_types(schema):
        found &= types
    return found


def _declared_types(schema: dict[str, Any]) -> Iterator[frozenset[str]]:
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        yield frozenset(kinds) | ({"integer"} if "number" in kinds else frozenset())
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            yield frozenset().union(*map(_allowed_types, schema[key]))
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        yield frozenset().union(*(_JSON_TYPES.get(type(each), frozenset()) for each in values))
