"""Queries on pydantic models: which keys they have, which models are nested, which fields are secrets."""

import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Secret, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

from agentcore.near_names import closest_name

Model = type[BaseModel]


def keys_of(model: Model) -> dict[str, FieldInfo]:
    """Return a model's fields by JSON key."""
    return {_json_key(name, info): info for name, info in model.model_fields.items()}


def names_of(model: Model) -> dict[str, str]:
    """Return the Python names of a model's fields by JSON key."""
    return {_json_key(name, info): name for name, info in model.model_fields.items()}


def model_inside(model: Model | None, key: str | int) -> Model | None:
    """Return the model of the object under a key, or None if it is not exactly one known model."""
    info = None if model is None or isinstance(key, int) else keys_of(model).get(key)
    if info is None:
        return None
    found = [part for part in _union_members(info.annotation) if _is_model(part)]
    return found[0] if len(found) == 1 else None


def is_text_only(model: Model | None, key: str) -> bool:
    """Return True if only text (or null) is valid under a key."""
    info = None if model is None else keys_of(model).get(key)
    return info is not None and all(
        _is_text(part) for part in _union_members(info.annotation) if part is not type(None)
    )


def find_near_key(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant, or None."""
    return closest_name(word.lower(), known)


def secrets_in(model: Model, values: Any) -> set[str]:
    """Return the texts in raw settings at positions where the model expects a secret."""
    if not isinstance(values, dict):
        return set()
    found: set[str] = set()
    for key, info in keys_of(model).items():
        if key not in values:
            continue
        if any(_is_secret(part) for part in _walk_annotations(info.annotation)):
            found.update(_iterate_texts(values[key]))
        for part in _walk_annotations(info.annotation):
            if _is_model(part):
                for value in _iterate_objects(values[key]):
                    found |= secrets_in(part, value)
    return found


def _json_key(name: str, info: FieldInfo) -> str:
    return info.validation_alias if isinstance(info.validation_alias, str) else info.alias or name


def _union_members(annotation: Any) -> tuple[Any, ...]:
    is_union = get_origin(annotation) in (Union, types.UnionType)
    return get_args(annotation) if is_union else (annotation,)


def _walk_annotations(annotation: Any) -> Iterator[Any]:
    """Yield an annotation and everything nested in it: for `dict[str, Secret]`, dict, str and Secret."""
    yield annotation
    yield get_origin(annotation)
    for part in get_args(annotation):
        yield from _walk_annotations(part)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _is_secret(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, (SecretStr, SecretBytes, Secret))


def _is_text(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_text(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return all(isinstance(choice, str) for choice in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, (str, Path, SecretStr, SecretBytes))


def _iterate_texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _iterate_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _iterate_texts(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _iterate_objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects at the top of a value: itself, or those in a list or mapping."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict):
            yield inner
