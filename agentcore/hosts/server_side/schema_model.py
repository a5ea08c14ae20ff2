"""Creates a pydantic model from a JSON Schema: for settings, bodies and queries whose own model is in another
process."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr, create_model, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from agentcore.core.modules.schema_compiling import Validate, check_cost, compile_schema

_DEPTH = 20
_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}


def model_of_schema(name: str, schema: dict[str, Any], *, is_text: bool = False) -> type[BaseModel]:
    """Return a model that accepts what the schema accepts, and has the schema as its own.

    Its keys, nested objects and secrets are known as of any model; values are not changed.

    Args:
        is_text: True if values are texts, as those of a query: then only names and types are checked.
    Raises:
        ValueError: It is not a usable schema.
    """
    check_cost(schema)
    whole = _Expanded(schema).expand(schema, 0)
    return _make_model(name, whole, None if is_text else compile_schema(schema), 0, is_text=is_text)


class _Expanded:
    """Resolves references of a schema; recursive ones end at some depth."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._definitions = root.get("$defs", {})

    def expand(self, part: Any, depth: int) -> Any:
        if isinstance(part, list):
            return [self.expand(each, depth + 1) for each in part]
        if not isinstance(part, dict):
            return part
        if depth > _DEPTH:
            return {}
        reference = part.get("$ref")
        if isinstance(reference, str):
            found = self._definitions.get(reference.removeprefix("#/$defs/"), {})
            beside = {key: value for key, value in part.items() if key != "$ref"}
            return self.expand({**found, **beside}, depth + 1)
        return {key: self.expand(value, depth + 1) for key, value in part.items() if key != "$defs"}


def _make_model(
    name: str, schema: dict[str, Any], check: Validate | None, depth: int, *, is_text: bool
) -> type[BaseModel]:
    fields: dict[str, Any] = {
        # keys may not be valid Python names
        f"field_{number}": (
            _field_annotation(f"{name}_{number}", part, depth, is_text=is_text),
            Field(None, alias=key, json_schema_extra=_extension_keys(part)),
        )
        for number, (key, part) in enumerate(schema.get("properties", {}).items())
    }
    is_closed = schema.get("additionalProperties") is False
    validators: dict[str, Any] = {}
    if check is not None:
        validators["held"] = model_validator(mode="before")(_make_validator(check))
    made: type[BaseModel] = create_model(
        name,
        __base__=_make_base_model(schema),
        __validators__=validators,
        **fields,
    )
    made.model_config["extra"] = "forbid" if is_closed else "allow"
    made.model_rebuild(force=True)
    return made


def _make_base_model(schema: dict[str, Any]) -> type[BaseModel]:
    class OfSchema(BaseModel):
        model_config = ConfigDict(extra="allow", populate_by_name=False, protected_namespaces=())

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
            return dict(schema)

    return OfSchema


def _make_validator(check: Validate) -> Any:
    def held(cls: type[BaseModel], value: Any) -> Any:
        if errors := check(value):
            raise ValidationError.from_exception_data(cls.__name__, [_to_error_details(each, value) for each in errors])
        return value

    return classmethod(held)


def _to_error_details(error: Mapping[str, str], value: Any) -> InitErrorDetails:
    steps: list[str | int] = []
    for step in error["path"].replace("[", ".[").split("."):
        if step.startswith("["):
            steps.append(int(step[1:-1]))
        elif step:
            steps.append(step)
    said = error["message"].replace("{", "(").replace("}", ")")
    return InitErrorDetails(type=PydanticCustomError("of_schema", said), loc=tuple(steps), input=value)


def _field_annotation(name: str, part: Any, depth: int, *, is_text: bool) -> Any:
    if not isinstance(part, dict):
        return Any
    branches = [each for each in part.get("anyOf", [part]) if isinstance(each, dict) and each.get("type") != "null"]
    if any(each.get("writeOnly") or each.get("format") == "password" for each in (*branches, part)):
        return SecretStr | None
    if len(branches) != 1:
        return Any
    [only] = branches
    if "properties" in only and depth < _DEPTH:
        return _make_model(name, only, None, depth + 1, is_text=is_text) | None
    kind = _TYPES.get(only.get("type", ""))
    # values are validated unchanged; only the texts of a query are converted
    return kind | None if kind is str or (is_text and kind is not None) else Any


def _extension_keys(part: Any) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key.startswith("x-")} if isinstance(part, dict) else {}
