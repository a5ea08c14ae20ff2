"""Convert a schema to strict form: all properties are required, optional ones nullable, and no object is open.

Source: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas.
"""

import json
from typing import Any

from agentcore.tool_formats.keywords import over_parts

DEPTH_MAX = 10
PROPERTIES_MAX = 5_000


class CannotBeStrictError(ValueError):
    """Raised when a schema cannot be expressed in strict form; the message says why."""


def make_strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert an object's schema in the strict dialect to strict form.

    A nested object with arbitrary properties becomes a string with JSON text, which `repair_arguments` decodes.

    Raises:
        CannotBeStrictError: It accepts any value somewhere, is nested too deeply or has too many properties.
    """
    maker = _Strict()
    made = maker.convert_object(schema, 1)
    if maker.properties > PROPERTIES_MAX:
        raise CannotBeStrictError(f"it has more than {PROPERTIES_MAX:,} properties")
    return made


class _Strict:
    def __init__(self) -> None:
        self.properties = 0

    def convert_object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Convert an object with known properties."""
        if depth > DEPTH_MAX:
            raise CannotBeStrictError(f"objects are nested more than {DEPTH_MAX} deep")
        self.properties += len(schema["properties"])
        required = schema.get("required", ())
        properties = {
            name: self.convert_part(part, depth)
            if name in required
            else _make_nullable(self.convert_part(_describe_default(part), depth))
            for name, part in schema["properties"].items()
        }
        return {**schema, "properties": properties, "required": list(properties), "additionalProperties": False}

    def convert_part(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """Convert any schema within."""
        schema = {key: value for key, value in schema.items() if key != "default"}
        if schema.get("type") == "object":
            if "properties" in schema and schema.get("additionalProperties", False) is False:
                return self.convert_object(schema, depth + 1)
            return _as_text(schema)
        if not any(key in schema for key in ("type", "anyOf", "enum", "const")):
            raise CannotBeStrictError("an argument takes any JSON value")
        if schema.get("type") == "array" and "items" not in schema:
            raise CannotBeStrictError("a list takes any JSON values")
        return over_parts(schema, lambda part: self.convert_part(part, depth) if isinstance(part, dict) else part)


def _describe_default(schema: dict[str, Any]) -> dict[str, Any]:
    default = schema.get("default")
    if default is None:
        return schema
    words = f"default: {json.dumps(default, ensure_ascii=False)}"
    return {**schema, "description": f"{schema['description']} ({words})" if schema.get("description") else words}


def _make_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if isinstance(schema.get("anyOf"), list):
        null = {"type": "null"}
        return schema if null in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], null]}
    if "const" in schema or kind is None:
        described = {"description": schema["description"]} if "description" in schema else {}
        rest = {key: value for key, value in schema.items() if key != "description"}
        return {**described, "anyOf": [rest, {"type": "null"}]}
    types = kind if isinstance(kind, list) else [kind]
    made = {**schema, "type": types if "null" in types else [*types, "null"]}
    if "enum" in schema and None not in schema["enum"]:
        made["enum"] = [*schema["enum"], None]
    return made


def _as_text(schema: dict[str, Any]) -> dict[str, Any]:
    words = "a JSON object, as text"
    message = f"{schema['description']} ({words})" if schema.get("description") else words
    return {"type": "string", "description": message}
