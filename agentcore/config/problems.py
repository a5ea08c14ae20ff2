"""Pydantic's validation errors of settings as messages that name the location and never show a value."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from agentcore.config.config_errors import ConfigProblem
from agentcore.config.fields import Model, find_near_key, keys_of, model_inside, secrets_in
from agentcore.config.json_source import JsonPath
from agentcore.config.layers import DEFAULT, Origins
from agentcore.secrets import MASK, mask_known_secrets

_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_EXPECTED = {
    "dict_type": "an object",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "string_type": "text",
    "tuple_type": "a list",
    "bool_type": "true or false",
}
_INPUT = "Input should be "


def problems_of(error: ValidationError, model: Model, values: Any, origins: Origins) -> list[ConfigProblem]:
    """Convert each error of a validation to a problem with its location."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return problems_of_faults(problems, model, values, origins)


def problems_of_faults(
    faults: Sequence[Mapping[str, Any]], model: Model, values: Any, origins: Origins
) -> list[ConfigProblem]:
    """Convert errors in pydantic's form (`type`, `loc`, `msg`), wherever they were raised, to problems."""
    secrets = sorted(secrets_in(model, values) - {""}, key=len, reverse=True)
    problems = []
    for fault in faults:
        kind = str(fault["type"])
        location = tuple(fault["loc"])
        said = str(fault["msg"])
        path = _existing_path(values, location)
        for secret in secrets:  # a validator of a module may quote its value
            said = said.replace(secret, MASK)
        message = _format_message(kind, location, mask_known_secrets(said), model, _get_value(values, path))
        problems.append(locate_problem(message, path, origins))
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))


def _format_message(kind: str, location: JsonPath, text: str, model: Model, value: Any) -> str:
    if kind == "extra_forbidden":
        return _unknown_key(location, model)
    if kind == "missing":
        return f"the key {location[-1]!r} is missing, and it has no default"
    if kind in ("value_error", "assertion_error"):
        return text.partition(", ")[2] or text
    if kind in _EXPECTED or text.startswith(_INPUT):
        expected = _EXPECTED.get(kind) or text.removeprefix(_INPUT).partition(", unable to ")[0]
        return f"expected {expected}, found {kind_of(value)}"
    return text[:1].lower() + text[1:]


def kind_of(value: Any) -> str:
    """Return a name for people of the type of a JSON value."""
    return _KINDS[type(value)]


def _unknown_key(location: JsonPath, model: Model) -> str:
    inner: Model | None = model
    for step in location[:-1]:
        inner = model_inside(inner, step)
    known = sorted(keys_of(inner)) if inner else []
    meant = find_near_key(str(location[-1]), known)
    if meant:
        return f"unknown key; did you mean {meant!r}?"
    return f"unknown key; known are {', '.join(known)}" if known else "unknown key"


def _existing_path(values: Any, location: JsonPath) -> JsonPath:
    """Return the part of pydantic's location that is a path; unions and validators add names that are not keys."""
    path: list[str | int] = []
    for step in location:
        is_key = isinstance(values, dict) and step in values
        if is_key or (isinstance(values, list) and isinstance(step, int) and step < len(values)):
            values = values[step]
            path.append(step)
    return tuple(path)


def _get_value(values: Any, path: JsonPath) -> Any:
    for step in path:
        values = values[step]
    return values


def locate_problem(message: str, path: JsonPath, origins: Origins) -> ConfigProblem:
    """Create a problem with the file, line and column of the innermost value around a path that has an origin."""
    while path and path not in origins:
        path = path[:-1]
    origin = origins.get(path, DEFAULT)
    # shown as the path in the file, which may differ from the path in the settings
    shown = path if origin.file is None else origin.path
    return ConfigProblem(message, origin.file, origin.line, origin.column, shown, origin.variable)
