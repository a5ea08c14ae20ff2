"""JSON Schemas of results, created when a module starts: directly for plain types, by pydantic for others.

Pydantic takes 2 to 5 ms for a nested TypedDict, because it also creates a validator. A module of 25
tools would need a tenth of a second for schemas that few clients request.
"""

import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typing_extensions
from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from agentcore.api.return_type import find_output_type, to_pydantic_hint

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null", None: "null"}
_FREE: tuple[Any, ...] = (Any, object)
_Definitions = dict[Any, dict[str, Any] | None]
"""Schemas of the types that occurred, by type; None: it is being created."""


def build_output_schema(hint: Any) -> dict[str, Any] | None:
    """Return the JSON Schema of a result's `data` if a tool's return type is an object of one shape; else None."""
    data = find_output_type(hint)
    if data is None:
        return None
    try:
        return _root_schema(data)
    except _NotPlainError:
        adapter = TypeAdapter[Any](to_pydantic_hint(data))
        return strip_titles(adapter.json_schema(mode="serialization", schema_generator=Untitled))


class Untitled(GenerateJsonSchema):
    """Pydantic's schemas without the titles that only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """No field has one."""
        return False


def strip_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles of its models."""
    clean: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in ("properties", "$defs", "patternProperties"):
            clean[key] = {name: strip_titles(part) for name, part in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            clean[key] = value
        elif isinstance(value, dict):
            clean[key] = strip_titles(value)
        elif isinstance(value, list):
            clean[key] = [strip_titles(part) if isinstance(part, dict) else part for part in value]
        else:
            clean[key] = value
    return clean


# -- plain types -----------------------------------------------------------------------------------------------


class _NotPlainError(Exception):
    """A type that pydantic has to be asked about."""


def _root_schema(data: Any) -> dict[str, Any]:
    """Return the schema that pydantic would create for a TypedDict.

    Raises:
        _NotPlainError: It contains something else than TypedDicts, lists, dicts, literals and plain values.
    """
    definitions: _Definitions = {data: None}
    schema = _typed_dict_schema(data, definitions)
    del definitions[data]
    named = {kind.__name__: made for kind, made in definitions.items()}
    if len(named) < len(definitions):
        raise _NotPlainError
    return {"$defs": named, **schema} if named else schema


def _typed_dict_schema(kind: Any, definitions: _Definitions) -> dict[str, Any]:
    if not typing_extensions.is_typeddict(kind) or hasattr(kind, "__pydantic_config__"):
        raise _NotPlainError
    fields = kind.__annotations__
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    if kind.__doc__:
        schema["description"] = inspect.cleandoc(kind.__doc__)
    for name, hint in fields.items():
        schema["properties"][name] = _type_schema(hint, definitions)
    if required := [name for name in fields if name in kind.__required_keys__]:
        schema["required"] = required
    return schema


def _type_schema(hint: Any, definitions: _Definitions) -> dict[str, Any]:
    if hint in _FREE:
        return {}
    origin = get_origin(hint)
    if origin is None:
        return {"type": _TYPES[hint]} if hint in _TYPES else _reference_schema(hint, definitions)
    if origin not in _BY_ORIGIN:
        raise _NotPlainError
    return _BY_ORIGIN[origin](get_args(hint), definitions)


def _reference_schema(kind: Any, definitions: _Definitions) -> dict[str, Any]:
    if kind not in definitions:
        definitions[kind] = None
        definitions[kind] = _typed_dict_schema(kind, definitions)
    if definitions[kind] is None:  # it is recursive
        raise _NotPlainError
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _unwrapped_schema(parts: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    return _type_schema(parts[0], definitions)


def _annotated_schema(parts: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    part, *notes = parts
    [note] = notes if len(notes) == 1 else [None]
    if type(note) is not FieldInfo or note.asdict() != Field(description=note.description).asdict():
        raise _NotPlainError
    return {**_type_schema(part, definitions), "description": note.description}


def _list_schema(parts: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    return {"type": "array", "items": _type_schema(parts[0], definitions)}


def _dict_schema(parts: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    if parts[0] is not str:
        raise _NotPlainError
    return {"type": "object", "additionalProperties": _type_schema(parts[1], definitions) or True}


def _union_schema(parts: tuple[Any, ...], definitions: _Definitions) -> dict[str, Any]:
    made = [_type_schema(part, definitions) for part in parts]
    if any(part in made[:number] for number, part in enumerate(made)):  # which pydantic would include once
        raise _NotPlainError
    return {"anyOf": made}


def _literal_schema(parts: tuple[Any, ...], _: _Definitions) -> dict[str, Any]:
    if not all(type(part) is str for part in parts):
        raise _NotPlainError
    return {"type": "string", **({"const": parts[0]} if len(parts) == 1 else {"enum": list(parts)})}


_BY_ORIGIN: dict[Any, Callable[[tuple[Any, ...], _Definitions], dict[str, Any]]] = {
    typing.Required: _unwrapped_schema,
    typing.NotRequired: _unwrapped_schema,
    typing_extensions.Required: _unwrapped_schema,
    typing_extensions.NotRequired: _unwrapped_schema,
    Annotated: _annotated_schema,
    list: _list_schema,
    dict: _dict_schema,
    Union: _union_schema,
    types.UnionType: _union_schema,
    Literal: _literal_schema,
}
