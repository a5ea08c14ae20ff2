"""Apply the mark `x-model`, by which authors hide or shorten parts of a schema: models pay for every word."""

from typing import Any

from agentcore.schema_extension_keys import ALIASES, FLAT, FOR_MODELS, IGNORED
from agentcore.tool_formats.keywords import over_parts


def for_models(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without references as it is shown to models.

    An optional argument marked `false` is omitted, but still accepted. A marked text replaces the description.
    """
    made = over_parts(schema, lambda part: for_models(part) if isinstance(part, dict) else part)
    said = made.pop(FOR_MODELS, None)
    made.pop(ALIASES, None)
    made.pop(IGNORED, None)
    made.pop(FLAT, None)
    if isinstance(said, str):
        made["description"] = said
    if isinstance(properties := schema.get("properties"), dict):
        required = schema.get("required", ())
        hidden = {name for name, part in properties.items() if name not in required and is_hidden(part)}
        made["properties"] = {name: part for name, part in made["properties"].items() if name not in hidden}
    return made


def is_hidden(part: Any) -> bool:
    """Return True if an argument is marked as hidden, itself or in its non-null alternative."""
    if not isinstance(part, dict):
        return False
    return part.get(FOR_MODELS) is False or any(map(is_hidden, part.get("anyOf", ())))
