"""The keywords of JSON Schema (draft 2020-12), by the kind of their value."""

from collections.abc import Callable
from typing import Any

MAPS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))
"""Keywords whose value maps names to schemas."""

LISTS = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
"""Keywords whose value is a list of schemas."""

SINGLES = frozenset(
    (
        "items",
        "additionalProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
"""Keywords whose value is one schema."""

STRUCTURE = frozenset(
    ("type", "properties", "required", "items", "prefixItems", "additionalProperties", "anyOf", "enum", "const")
)
"""Keywords that describe the structure of a value."""

NOTES = frozenset(("description", "default"))
"""Annotations that a model reads."""

NUMBER_BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))

SIZE_BOUNDS = frozenset(("minLength", "maxLength", "minItems", "maxItems"))

ALL = (
    STRUCTURE
    | NOTES
    | NUMBER_BOUNDS
    | SIZE_BOUNDS
    | (MAPS - {"$defs", "definitions"})
    | (LISTS - {"allOf"})
    | SINGLES
    | frozenset(
        (
            "multipleOf",
            "pattern",
            "format",
            "uniqueItems",
            "minContains",
            "maxContains",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "examples",
        )
    )
)
"""All keywords with a meaning for readers of full JSON Schema; without references, titles and custom marks."""


def over_parts(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a copy of a schema in which each direct subschema is replaced by `change`."""
    changed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in MAPS and isinstance(value, dict):
            changed[key] = {name: change(part) for name, part in value.items()}
        elif key in LISTS and isinstance(value, list):
            changed[key] = [change(part) for part in value]
        elif key in SINGLES and isinstance(value, dict | bool):
            changed[key] = change(value)
        elif key == "items" and isinstance(value, list):  # a tuple in drafts before 2020-12
            changed["prefixItems"] = [change(part) for part in value]
        else:
            changed[key] = value
    return changed
