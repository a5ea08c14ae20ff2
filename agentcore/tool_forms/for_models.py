"""What an author keeps from models, by the mark `x-model`: they pay for each word with each request."""

from typing import Any

from agentcore.model_mark import FOR_MODELS
from agentcore.tool_forms.keywords import over_parts


def for_models(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without references as models are shown it.

    An optional argument marked `false` is left out; it is taken all the same. A text stands in place of a description.
    """
    made = over_parts(schema, lambda part: for_models(part) if isinstance(part, dict) else part)
    said = made.pop(FOR_MODELS, None)
    if isinstance(said, str):
        made["description"] = said
    if isinstance(properties := schema.get("properties"), dict):
        required = schema.get("required", ())
        hidden = {name for name, part in properties.items() if name not in required and is_hidden(part)}
        made["properties"] = {name: part for name, part in made["properties"].items() if name not in hidden}
    return made


def is_hidden(part: Any) -> bool:
    """Whether an argument is marked; the mark may stand at what it is when it is not null."""
    if not isinstance(part, dict):
        return False
    return part.get(FOR_MODELS) is False or any(map(is_hidden, part.get("anyOf", ())))
