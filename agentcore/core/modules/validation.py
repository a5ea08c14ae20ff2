"""Arguments checked against the tool's model or JSON Schema, compiled once."""

from collections.abc import Callable
from typing import Any

import pydantic_core
from pydantic import ValidationError

from agentcore.api import ToolDefinition
from agentcore.core.module_code.tool_errors import plain_error
from agentcore.core.modules.schema_compiling import compile_schema, describe_unknown_key, path_of
from agentcore.errors import InvalidResultError, ToolError
from agentcore.limits import VALIDATION_ERRORS
from agentcore.near_names import shorten_name

Validate = Callable[[dict[str, Any]], dict[str, Any]]
CheckResult = Callable[[bytes, bool], None]
"""Gets a result's data as JSON text, and whether it comes from the open world."""

_UNKNOWN = "is not a parameter"


def compile_validator(definition: ToolDefinition) -> Validate:
    """Create a function that validates arguments and returns what the module gets.

    The function raises `ToolError` `invalid_arguments` with one entry for each wrong field.

    Raises:
        ValueError: The definition's schema is not a valid JSON Schema of an object.
    """
    if definition.input_schema.get("type", "object") != "object":
        raise ValueError(f"input_schema of tool {definition.name!r} must have type 'object'")
    if definition.arguments is None:
        return _by_schema(definition)
    import jsonschema_rs  # noqa: PLC0415 - 16 ms and 2 MiB that the server's first answer does without

    try:
        jsonschema_rs.meta.validate(definition.input_schema)
    except jsonschema_rs.ValidationError as exc:
        raise ValueError(f"input_schema of tool {definition.name!r} is not valid: {exc.message}") from exc
    return validator_of(definition)


class DeferredArguments(dict[str, Any]):
    """Arguments that a schema refuses, of a tool whose module runs in a host, where its own model decides."""


def defer_to_host(validate: Validate) -> Validate:
    """Create the same function, except that arguments that it refuses are left to the module's host."""

    def validate_or_leave(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return validate(arguments)
        except ToolError:
            return DeferredArguments(arguments)

    return validate_or_leave


def compile_result_check(definition: ToolDefinition) -> CheckResult | None:
    """Create a function that validates a result's data, as JSON text, against the schema; None: there is no schema.

    The function raises `InvalidResultError`.

    Raises:
        ValueError: The definition's `output_schema` is not a valid JSON Schema.
    """
    if definition.output_schema is None or definition.checks_result:
        return None
    try:
        errors_of = compile_schema(definition.output_schema)
    except ValueError as exc:
        raise ValueError(f"output_schema of tool {definition.name!r} cannot be used: {exc}") from exc

    def check(encoded: bytes, is_untrusted: bool) -> None:
        if errors := errors_of(pydantic_core.from_json(encoded)):
            wrong = [(error["path"], error["message"]) for error in errors]
            raise InvalidResultError(definition.name, wrong, untrusted=is_untrusted)

    return check


def validator_of(definition: ToolDefinition) -> Validate:
    """The same by the definition's model alone, whose schema is known to be one."""
    model = definition.arguments
    assert model is not None  # noqa: S101 - the caller has looked
    validate_python = model.__pydantic_validator__.validate_python
    known = list(definition.input_schema.get("properties", {}))

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            values: dict[str, Any] = validate_python(arguments).__dict__
        except ValidationError as exc:
            found = exc.errors(include_url=False, include_context=False, include_input=False)
            # suggestions only for keys that are shown: a caller may send any number of unknown keys
            errors = [
                {
                    "path": shorten_name(path_of(error["loc"])),
                    "message": _describe_error(error["type"], error["msg"], error["loc"], known),
                }
                for error in found[:VALIDATION_ERRORS]
            ]
            raise invalid_arguments(definition.name, definition.input_schema, errors, len(found)) from None
        except ToolError as exc:  # of a validator of the module's own
            raise plain_error(exc) from exc
        return values

    return validate


def _by_schema(definition: ToolDefinition) -> Validate:
    try:
        errors_of = compile_schema(definition.input_schema, unknown=_UNKNOWN)
    except ValueError as exc:
        raise ValueError(f"input_schema of tool {definition.name!r} cannot be used: {exc}") from exc

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        if errors := errors_of(arguments):
            raise invalid_arguments(definition.name, definition.input_schema, errors)
        return arguments

    return validate


def invalid_arguments(
    tool: str, schema: dict[str, Any], errors: list[dict[str, str]], count: int | None = None
) -> ToolError:
    """Return the error of a call whose arguments do not match the tool's schema; `errors` are `{path, message}`.

    Args:
        count: Their total number, if `errors` are the first ones.
    """
    count = len(errors) if count is None else count
    problems = "; ".join(f"{shorten_name(error['path'] or 'arguments')}: {error['message']}" for error in errors[:3])
    more = f" (and {count - 3} more)" if count > 3 else ""  # noqa: PLR2004 - as many as are shown
    said = f"{tool} was not called: {problems}{more}"
    return ToolError(
        "invalid_arguments",
        said if said.endswith(("?", ".")) else f"{said}.",
        errors=errors[:VALIDATION_ERRORS],
        parameters=list(schema.get("properties", {})),
    )


def _describe_error(kind: str, message: str, loc: tuple[int | str, ...], known: list[str]) -> str:
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return describe_unknown_key(str(loc[-1]), known if len(loc) == 1 else (), _UNKNOWN)
    return message[:1].lower() + message[1:]
