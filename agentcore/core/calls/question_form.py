"""A form with which a tool asks the user: a flat object of texts, numbers, choices, and booleans.

It supports the same parts of JSON Schema as MCP's elicitation, so that a client can show it.
Source: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

FIELDS = 40
"""Fields of one form at most."""

_TYPES = frozenset(("string", "integer", "number", "boolean", "array"))
_SHOWN = (
    *("type", "title", "description", "format", "default"),
    *("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"),
)
_YES = ("yes", "true", "是")
_NO = ("no", "false", "否")


class FormField(NamedTuple):
    """One field.

    Args:
        name: Its key in the answer.
        schema: Its schema.
        is_required: True if it must be filled in.
    """

    name: str
    schema: Mapping[str, Any]
    is_required: bool

    @property
    def title(self) -> str:
        """The label for the user."""
        words = str(self.schema.get("title") or self.name)
        return f"{words} – {self.schema['description']}" if self.schema.get("description") else words

    @property
    def choices(self) -> list[str] | None:
        """The allowed values; None: any of its type."""
        schema = self._of_choices
        titled = schema.get("oneOf") or schema.get("anyOf")
        if titled:
            return [str(each["const"]) for each in titled]
        return list(map(str, schema["enum"])) if "enum" in schema else None

    @property
    def _of_choices(self) -> Mapping[str, Any]:
        items = self.schema.get("items")
        return self.schema if self.schema["type"] != "array" else items if isinstance(items, Mapping) else {}

    @property
    def shown_schema(self) -> dict[str, Any]:
        """The field's schema without keys that no form shows: a server may have written anything into it."""
        shown = {name: self.schema[name] for name in _SHOWN if isinstance(self.schema.get(name), str | int | float)}
        if self.choices is None:
            return shown
        options = [
            {"const": value, "title": title} for value, title in zip(self.choices, self._choice_titles, strict=True)
        ]
        if self.schema["type"] == "array":
            return {**shown, "items": {"oneOf": options}, "uniqueItems": True, **self._default_of_type(list)}
        return {**shown, "oneOf": options, **self._default_of_type(str)}

    def _default_of_type(self, kind: type) -> dict[str, Any]:
        value = self.schema.get("default")
        return {"default": value} if isinstance(value, kind) else {}

    @property
    def _choice_titles(self) -> list[str]:
        """The labels of the choices."""
        schema = self._of_choices
        titled = schema.get("oneOf") or schema.get("anyOf")
        if titled:
            return [str(each.get("title") or each["const"]) for each in titled]
        values = self.choices or []
        names = schema.get("enumNames")
        return list(map(str, names)) if isinstance(names, list) and len(names) == len(values) else values

    def parse_value(self, value: Any) -> Any:
        """The value, as its type.

        Raises:
            ValueError: It is none, and why.
        """
        match self.schema["type"]:
            case "boolean":
                return _yes_or_no(value)
            case "integer" | "number":
                return self._parse_number(value)
            case "array":
                values = [value] if isinstance(value, str) else value
                return (
                    [self._parse_text(each) for each in values]
                    if isinstance(values, list)
                    else _raise_wrong_value("a list", value)
                )
        return self._parse_text(value)

    def _parse_text(self, value: Any) -> str:
        if not isinstance(value, str):
            _raise_wrong_value("a text", value)
        if self.choices is not None and value not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}")
        if self.schema["type"] == "string":
            _check_bounds(len(value), self.schema.get("minLength"), self.schema.get("maxLength"), "have", " characters")
        return str(value)

    def _parse_number(self, value: Any) -> int | float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError):
            number = math.nan
        is_whole = self.schema["type"] == "integer"
        if not math.isfinite(number) or (is_whole and number != int(number)):
            _raise_wrong_value("a whole number" if is_whole else "a number", value)
        _check_bounds(number, self.schema.get("minimum"), self.schema.get("maximum"), "be")
        return int(number) if is_whole else number


def read_form(schema: Mapping[str, Any]) -> list[FormField]:
    """The fields of a form.

    Raises:
        TypeError: The schema is none of a form.
    """
    properties = schema.get("properties")
    required = schema.get("required", [])
    if schema.get("type") != "object" or not isinstance(properties, Mapping) or not 0 < len(properties) <= FIELDS:
        raise TypeError(f"ask: schema must be of an object with 1 to {FIELDS} properties")
    for name, field in properties.items():
        if not isinstance(field, Mapping) or field.get("type") not in _TYPES:
            raise TypeError(f"ask: the field {name!r} must be of one of the types {', '.join(sorted(_TYPES))}")
    return [FormField(name, field, name in required) for name, field in properties.items()]


def shown_form(fields: Sequence[FormField]) -> dict[str, Any]:
    """The form as JSON Schema, for who shows it."""
    required = [field.name for field in fields if field.is_required]
    return {"type": "object", "properties": {field.name: field.shown_schema for field in fields}, "required": required}


def read_answers(fields: Sequence[FormField], content: Mapping[str, Any]) -> dict[str, Any]:
    """Validate a filled-in form and add defaults; unknown fields are left out.

    Raises:
        ValueError: What is wrong with it, as text for the user.
    """
    answers: dict[str, Any] = {}
    for field in fields:
        value = content.get(field.name)
        if value is None:
            value = field.schema.get("default")
        if value is None:
            if field.is_required:
                raise ValueError(f"{field.name} is missing")
            continue
        try:
            answers[field.name] = field.parse_value(value)
        except ValueError as exc:
            raise ValueError(f"{field.name} {exc}") from exc
    return answers


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in (*_YES, *_NO):
        _raise_wrong_value("yes or no", value)
    return word in _YES


def _check_bounds(number: float, least: Any, most: Any, verb: str, unit: str = "") -> None:
    if least is not None and number < least:
        raise ValueError(f"must {verb} at least {least}{unit}")
    if most is not None and number > most:
        raise ValueError(f"must {verb} at most {most}{unit}")


def _raise_wrong_value(wanted: str, value: Any) -> NoReturn:
    raise ValueError(f"must be {wanted}, not {value!r:.80}")
