"""How models without native tool calling are taught to write calls, and how their calls stand in the history."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from agentcore.chat.model.offered_tools import OfferedTool
from agentcore.chat.turn.tool_search import summary_line

WrittenForm = Literal["tag", "text"]
"""`tag`: `<tool_call>{"name", "arguments": {…}}</tool_call>`; `text`: the chat endpoint's, arguments as JSON text."""

_EXAMPLES = 2
_ENUM_CHARS = 60


def format_call(tool: str, arguments: Mapping[str, Any], form: WrittenForm) -> str:
    """Return a call as a model writes it."""
    if form == "tag":
        call = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
        return f"<tool_call>{call}</tool_call>"
    inner = json.dumps(arguments, ensure_ascii=False)
    return json.dumps({"tool_call": {"tool_name": tool, "arguments": inner}}, ensure_ascii=False)


def format_signature(tool: OfferedTool) -> str:
    """Return a tool on one line: its arguments with their types, `?` after optional ones, and what it does."""
    properties = _properties_of(tool.schema.schema)
    required = tool.schema.schema.get("required") or ()
    said = (f"{name}{'' if name in required else '?'}: {_format_type(part)}" for name, part in properties)
    return f"- {tool.name}({', '.join(said)}): {summary_line(tool)}"


def write_examples(tools: Sequence[OfferedTool]) -> Iterator[str]:
    """Yield calls of the tools that are needed most likely, those with arguments first."""
    likely = sorted(tools, key=lambda tool: (tool.kind != "client", not tool.is_named, tool.rank))
    with_arguments = [tool for tool in likely if tool.schema.schema.get("required")]
    for tool in (with_arguments or likely)[:_EXAMPLES]:
        required = tool.schema.schema.get("required") or ()
        properties = dict(_properties_of(tool.schema.schema))
        arguments = {name: _example_of(name, properties.get(name, {})) for name in required}
        yield format_call(tool.name, arguments, "tag")


def _properties_of(schema: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    properties = schema.get("properties")
    return list(properties.items()) if isinstance(properties, Mapping) else []


def _format_type(part: Any) -> str:
    """Return the type of one argument: its name, its values, or the types of its items."""
    if not isinstance(part, Mapping):
        return "any"
    if isinstance(values := part.get("enum"), list):
        shown = "|".join(json.dumps(value, ensure_ascii=False) for value in values)
        return shown if len(shown) <= _ENUM_CHARS else _name_type(part.get("type"))
    for key in ("anyOf", "oneOf"):
        if isinstance(part.get(key), list):
            return "|".join(dict.fromkeys(_format_type(each) for each in part[key] if not _is_null(each))) or "any"
    if part.get("type") == "array":
        return f"{_format_type(part.get('items'))}[]"
    if part.get("type") == "object" and (properties := _properties_of(part)):
        required = part.get("required") or ()
        return f"{{{', '.join(name + ('' if name in required else '?') for name, _ in properties)}}}"
    return _name_type(part.get("type"))


def _is_null(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "null"


def _name_type(given: Any) -> str:
    types: Iterable[Any] = given if isinstance(given, list) else (given,)
    return "|".join(name for name in types if isinstance(name, str) and name != "null") or "any"


def _example_of(name: str, part: Any) -> Any:
    """Return a value for one argument of an example."""
    if not isinstance(part, Mapping):
        return name.upper()
    for key in ("examples", "enum"):
        if isinstance(part.get(key), list) and part[key]:
            return part[key][0]
    if "const" in part or "default" in part:
        return part.get("const", part.get("default"))
    for key in ("anyOf", "oneOf"):
        if isinstance(part.get(key), list) and part[key]:
            return _example_of(name, part[key][0])
    return _example_of_type(name, part)


def _example_of_type(name: str, part: Mapping[str, Any]) -> Any:
    match part.get("type"):
        case "integer" | "number":
            return part.get("minimum", 1)
        case "boolean":
            return True
        case "array":
            return [_example_of(name, part.get("items"))]
        case "object":
            inner = dict(_properties_of(part))
            return {key: _example_of(key, inner.get(key)) for key in part.get("required") or ()}
    return name.upper()
