"""Arguments checked against the tool's model or JSON Schema, compiled once."""

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import ValidationError

from agentcore.api.definition import ToolDefinition
from agentcore.api.errors import ToolError

Validate = Callable[[dict[str, Any]], dict[str, Any]]

_ERRORS_SHOWN = 20


def compile_validator(definition: ToolDefinition) -> Validate:
    """Make the function that checks arguments and gives what the module gets.

    The function raises `ToolError` `invalid_arguments` with one entry for each wrong field.

    Raises:
        ValueError: The definition's schema is not a valid JSON Schema of an object.
    """
    if definition.input_schema.get("type", "object") != "object":
        raise ValueError(f"input_schema of tool {definition.name!r} must have type 'object'")
    import jsonschema_rs  # noqa: PLC0415 - 16 ms and 2 MiB that the server's first answer does without

    try:
        jsonschema_rs.meta.validate(definition.input_schema)
    except jsonschema_rs.ValidationError as exc:
        raise ValueError(f"input_schema of tool {definition.name!r} is not valid: {exc.message}") from exc
    return _by_schema(definition) if definition.arguments is None else _by_model(definition)


def _by_model(definition: ToolDefinition) -> Validate:
    model = definition.arguments
    assert model is not None  # noqa: S101 - the caller has looked
    validate_python = model.__pydantic_validator__.validate_python
    known = list(definition.input_schema.get("properties", {}))

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            values: dict[str, Any] = validate_python(arguments).__dict__
        except ValidationError as exc:
            errors = [
                _entry(_path(error["loc"]), _say(error["type"], error["msg"], error["loc"], known))
                for error in exc.errors(include_url=False, include_context=False, include_input=False)
            ]
            raise _invalid(definition, errors) from None
        return values

    return validate


def _by_schema(definition: ToolDefinition) -> Validate:
    import jsonschema_rs  # noqa: PLC0415 - as above

    try:
        validator = jsonschema_rs.validator_for(definition.input_schema, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ValidationError) as exc:
        raise ValueError(f"input_schema of tool {definition.name!r} cannot be used: {exc}") from exc

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        if not validator.is_valid(arguments):
            errors = [_entry(_path(error.instance_path), error.message) for error in validator.iter_errors(arguments)]
            raise _invalid(definition, errors)
        return arguments

    return validate


def _invalid(definition: ToolDefinition, errors: list[dict[str, str]]) -> ToolError:
    said = "; ".join(f"{error['path'] or 'arguments'}: {error['message']}" for error in errors[:3])
    more = f" (and {len(errors) - 3} more)" if len(errors) > 3 else ""  # noqa: PLR2004 - as many as were said
    return ToolError(
        "invalid_arguments",
        f"{definition.name} was not called: {said}{more}.",
        errors=errors[:_ERRORS_SHOWN],
        parameters=list(definition.input_schema.get("properties", {})),
    )


def _entry(path: str, message: str) -> dict[str, str]:
    return {"path": path, "message": message}


def _say(kind: str, message: str, loc: tuple[int | str, ...], known: list[str]) -> str:
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(loc[-1]), known, n=1) if len(loc) == 1 else []
        return f"is not a parameter; did you mean {near[0]!r}?" if near else "is not a parameter"
    return message[:1].lower() + message[1:]


def _path(parts: Iterable[int | str]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
