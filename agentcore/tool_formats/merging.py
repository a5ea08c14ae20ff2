"""Merge schemas: those that hold together (`allOf`), and choices among objects (`anyOf`, `oneOf`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_BOUNDS: Mapping[str, Callable[[Any, Any], Any]] = dict.fromkeys(_LEAST, max) | dict.fromkeys(_MOST, min)
_CHOICES = ("anyOf", "oneOf")
_WORDS_CHARS = 300


def merge_all_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge `allOf` into a schema.

    It accepts everything that it accepted before, and nothing else if that can be expressed in one schema.
    """
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    result = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        if isinstance(part, dict):
            result = _intersect_schemas(result, merge_all_of(part))
    return result


def without_choice(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge a choice at the top of an object into one with all properties and a text on which of them go together.

    Only properties that every alternative requires are required. A schema that is not an object, or has no choice, is
    returned unchanged.
    """
    key = next((key for key in _CHOICES if isinstance(schema.get(key), list)), None)
    if key is None:
        return schema
    branches = [without_choice(merge_all_of(part)) for part in schema[key] if isinstance(part, dict)]
    objects = [part for part in branches if _is_object(part)]
    rest = {name: value for name, value in schema.items() if name != key}
    if not objects or (len(objects) < len(branches) and not _is_object(rest)):
        return schema
    properties = dict(rest.get("properties", {}))
    for part in objects:
        for name, value in part.get("properties", {}).items():
            properties[name] = _unite_schemas(properties[name], value) if name in properties else value
    common = [
        name for name in objects[0].get("required", ()) if all(name in part.get("required", ()) for part in objects)
    ]
    made = rest | {"type": "object", "properties": properties}
    if required := list(dict.fromkeys([*rest.get("required", ()), *common])):
        made["required"] = required
    if words := _describe_choice(objects, required, properties):
        made["description"] = f"{made['description']} {words}" if made.get("description") else words
    # an alternative may need properties that another one forbids
    if any(part.get("additionalProperties", True) is not False for part in objects):
        made.pop("additionalProperties", None)
    return without_choice(made)


def without_tagged_choice(schema: dict[str, Any]) -> dict[str, Any]:
    """Merge a choice among objects that differ in one fixed text; the description lists the arguments for each text.

    The result accepts everything that the choice accepts, in a fraction of the characters. Any other schema is returned
    unchanged.
    """
    key = next((key for key in _CHOICES if isinstance(schema.get(key), list)), None)
    if key is None or "properties" in schema:
        return schema
    branches = [merge_all_of(part) if isinstance(part, dict) else {} for part in schema[key]]
    tag = _find_tag(branches)
    if tag is None:
        return schema
    message = "; ".join(_describe_branch(part, tag) for part in branches)
    made = without_choice({name: value for name, value in schema.items() if name != "description"} | {key: branches})
    head = schema.get("description")
    return made | {"description": f"{head} {tag} {message}" if head else f"{tag} {message}"}


def _find_tag(branches: list[dict[str, Any]]) -> str | None:
    """Return the argument with a different fixed text in each of several objects; None if there is none."""
    if not branches[1:] or not all(map(_is_object, branches)):
        return None
    for name in branches[0].get("required", ()):
        parts = [part.get("properties", {}).get(name) for part in branches if name in part.get("required", ())]
        if len(parts) == len(branches) == len({part["const"] for part in parts if _is_fixed(part)}):
            return str(name)
    return None


def _describe_branch(branch: Mapping[str, Any], tag: str) -> str:
    """Describe an alternative, such as `setText: selector, text`; optional arguments get a question mark."""
    required = branch.get("required", ())
    others = [name if name in required else f"{name}?" for name in branch["properties"] if name != tag]
    described = f" ({branch['description'].rstrip('.')})" if branch.get("description") else ""
    return f"{branch['properties'][tag]['const']}{described}: {', '.join(others) or 'nothing else'}"


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type", "object") == "object" and ("properties" in schema or "required" in schema)


def _describe_choice(objects: Iterable[Mapping[str, Any]], required: list[str], properties: Mapping[str, Any]) -> str:
    """Describe which arguments go together, as in `Give either path, or url and name.`; empty if unclear or long."""
    choices = []
    for part in objects:
        fixed = [f"{name} {value['const']!r}" for name, value in part.get("properties", {}).items() if _is_fixed(value)]
        requested = [name for name in part.get("required", ()) if name not in required and name in properties]
        choices.append(" and ".join([*fixed, *requested]))
    if not all(choices) or len(set(choices)) < len(choices):
        return ""
    words = f"Give either {', or '.join(choices)}."
    return words if len(words) <= _WORDS_CHARS else ""


def _is_fixed(schema: Any) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("const"), str)


def _unite_schemas(first: Any, second: Any) -> Any:
    """Return a schema that accepts what either schema accepts."""
    if first == second or first is True or second is True:
        return first if first == second else True
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first if isinstance(first, dict) else second
    values = [_allowed_values(part) for part in (first, second)]
    if all(values):
        kept = {key: value for key, value in first.items() if key not in {"const", "enum", "default", "description"}}
        return kept | {"enum": [*values[0], *(value for value in values[1] if value not in values[0])]}
    return {"anyOf": [first, second]}


def _allowed_values(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _intersect_schemas(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of what both accept; where that cannot be expressed, the first takes precedence."""
    result = dict(first)
    for key, value in second.items():
        result[key] = _intersect_keyword(key, result[key], value) if key in result else value
    return result


def _intersect_keyword(key: str, first: Any, second: Any) -> Any:
    if key == "properties":
        return first | {
            name: _intersect_property(first[name], part) if name in first else part for name, part in second.items()
        }
    if key == "required":
        return list(dict.fromkeys([*first, *second]))
    if key in {"type", "enum"}:
        common = [value for value in _as_list(first) if value in _as_list(second)]
        return (common if isinstance(first, list) else common[0]) if common else first
    if key in _BOUNDS:
        return _BOUNDS[key](first, second)
    return second if key == "additionalProperties" and second is False else first


def _intersect_property(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return _intersect_schemas(merge_all_of(first), merge_all_of(second))
    return first if isinstance(first, dict) else second


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
