"""Convert a tool's schema to a dialect. Dropped keywords that a model should know are put into descriptions."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agentcore.schema_extension_keys import ALIASES, FLAT, FOR_MODELS, IGNORED
from agentcore.tool_formats.dialects import Dialect
from agentcore.tool_formats.grammar_pattern import grammar_pattern
from agentcore.tool_formats.keywords import LISTS, MAPS, NUMBER_BOUNDS, SINGLES, SIZE_BOUNDS, over_parts
from agentcore.tool_formats.merging import merge_all_of, without_choice, without_tagged_choice
from agentcore.tool_formats.schema_references import inline_references
from agentcore.tool_formats.strict import CannotBeStrictError, make_strict

_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_ANY_TYPES = ("string", "number", "boolean", "object")
_NUMBER_MAX = 2**53
_SAID_CHARS = 200
_SAID_PATTERN_CHARS = 60
_FAR = 10_000
"""Limits from here on are omitted: a model does not reach them by accident."""

_SAID_SIZES = range(2, 1001)  # mentioned in descriptions; models do not come near larger ones
_BLANKS_ONLY = re.compile(r"[\^$.+*?(){}\[\],\d]|\\[sS]")
"""A pattern of which this leaves nothing only excludes blanks, which a model need not know."""

_IN_WORDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "pattern": "matches {}",
    "uniqueItems": "none twice",
    "const": "always {}",
    "enum": "one of {}",
    "format": "{}",
}
_EXCLUSIVE = {"exclusiveMinimum": ("minimum", 1), "exclusiveMaximum": ("maximum", -1)}


_NOT_AT_ROOT = LISTS | {"enum", "const", "not", "if", "then", "else", "default"}


class Lowered(NamedTuple):
    """A schema in a dialect.

    Args:
        schema: JSON Schema of an object.
        faults: What the model cannot do because of the conversion, one sentence each.
        is_strict: True if it meets the requirements of a strict dialect.
    """

    schema: dict[str, Any]
    faults: tuple[str, ...] = ()
    is_strict: bool = False


def lower_schema(schema: dict[str, Any], dialect: Dialect) -> Lowered:
    """Convert a tool's schema to a dialect, without changing the original."""
    root = without_choice(merge_all_of(for_models(inline_references(schema))))
    rest: dict[str, Any] = {key: value for key, value in root.items() if key not in _NOT_AT_ROOT}
    root = {"type": "object", "properties": {}} | rest | {"type": "object"}
    problems = []
    names = dialect.argument_names
    if names is not None and (wrong := [name for name in root["properties"] if not names.fullmatch(name)]):
        root["properties"] = {name: part for name, part in root["properties"].items() if name not in wrong}
        needed = root.get("required", ())
        problems = [
            f"the {'required' if name in needed else 'optional'} argument {name!r} is not shown to the model: its name"
            f" does not match {names.pattern}"
            for name in wrong
        ]
    made = _Lowering(dialect).lower_object(root)
    if not dialect.is_strict:
        return Lowered(made, tuple(problems))
    try:
        return Lowered(make_strict(made), tuple(problems), is_strict=True)
    except CannotBeStrictError as exc:
        return Lowered(made, (*problems, f"it is sent without strict: {exc}"))


class _Lowering:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def lower_object(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Convert a schema of an object; required properties that do not exist are dropped from `required`."""
        schema = dict(schema)
        if isinstance(properties := schema.get("properties"), dict):
            required = [name for name in schema.get("required", ()) if properties.get(name) not in (None, False)]
            schema["properties"] = {
                name: part if name in required or self._dialect.is_strict else _without_null(part)
                for name, part in properties.items()
                if part is not False
            }
            schema["required"] = required
        if not schema.get("required") or "properties" not in schema:
            schema.pop("required", None)
        return self._lower_keywords(schema)

    def lower_part(self, part: Any) -> Any:
        """Convert one schema within the whole."""
        if not isinstance(part, dict):
            return self._describe_any({}) if part else {"enum": []}
        part = _unwrap_single_choice(merge_all_of(part))
        if not self._dialect.is_strict:
            part = without_tagged_choice(part)
        if not self._dialect.takes_mixed:
            part = self._split_types(part)
        part = self._with_items(part)
        made = self.lower_object(part)
        return (
            made
            if any(key in made for key in ("type", "anyOf", "oneOf", "enum", "const"))
            else self._describe_any(made)
        )

    def _describe_any(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema that accepts any value."""
        if self._dialect.takes_any:
            # some readers take an empty schema for an object
            return schema if "description" in schema else schema | {"description": "any JSON value"}
        return schema | {"anyOf": [{"type": name} for name in _ANY_TYPES]}

    def _split_types(self, part: dict[str, Any]) -> dict[str, Any]:
        if "properties" in part:
            part = without_choice(part)
        if "oneOf" in part:
            part = {key: value for key, value in part.items() if key != "oneOf"} | {"anyOf": part["oneOf"]}
        if "anyOf" in part:
            # keywords next to a choice are ignored by these readers
            return {key: part[key] for key in ("description", "default", "anyOf") if key in part}
        types = part.get("type")
        if not isinstance(types, list):
            return part
        shared = {key: part[key] for key in ("description", "default") if key in part}
        rest = {key: value for key, value in part.items() if key not in shared and key != "type"}
        return shared | {"anyOf": [{"type": name} | _of_type(name, rest) for name in types if name in _TYPES]}

    def _with_items(self, part: dict[str, Any]) -> dict[str, Any]:
        """Convert `prefixItems` if the dialect does not support it, and lists of any values."""
        if "prefixItems" not in self._dialect.keywords and isinstance(part.get("prefixItems"), list):
            part = _merge_prefix_items(part)
        if part.get("type") != "array" or _is_typed(part.get("items")):
            return part
        if self._dialect.takes_any:
            return {key: value for key, value in part.items() if key != "items"}
        return part | {"items": True}

    def _is_valid_bound(self, value: Any, schema: dict[str, Any]) -> bool:
        if isinstance(value, bool):  # in draft 4, a flag that makes the limit exclusive
            return False
        if self._dialect.takes_mixed:
            return True
        return abs(value) <= _NUMBER_MAX and (isinstance(value, int) or schema.get("type") != "integer")

    def _lower_keywords(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Convert the keywords of one schema and its parts; unsupported ones become text where that helps a model."""
        dialect = self._dialect
        kept: dict[str, Any] = {}
        said: list[str] = []
        is_integer = schema.get("type") == "integer"
        for key, value in schema.items():
            if (key, value) == ("description", ""):
                continue
            if not dialect.is_strict and _is_omittable(key, value):
                continue
            if key in dialect.keywords and (taken := self._lower_keyword(key, value, schema)) is not None:
                kept[key] = taken
            elif key in _EXCLUSIVE and is_integer and type(value) is int:
                bound, step = _EXCLUSIVE[key]
                kept[bound] = value + step
            else:
                said += _describe_keyword(key, value)
        if "const" in schema and "const" not in kept and isinstance(schema["const"], str):
            kept["enum"] = [schema["const"]]
        if said:
            words = f"({'; '.join(said)})"
            kept["description"] = f"{kept['description']} {words}" if kept.get("description") else words[1:-1]
        return kept

    def _lower_keyword(self, key: str, value: Any, schema: dict[str, Any]) -> Any:
        """Convert the value of a keyword to the dialect; None if it is not supported."""
        dialect = self._dialect
        if key in MAPS | LISTS | SINGLES:
            return self._lower_parts(key, value)
        if key == "pattern" and dialect.needs_plain_patterns:
            return grammar_pattern(value)
        if key == "enum" and not dialect.takes_any:
            return [each for each in value if isinstance(each, str)] or None
        return value if self._is_supported(key, value, schema) else None

    def _lower_parts(self, key: str, value: Any) -> Any:
        if isinstance(value, dict) and key in MAPS:
            return {name: self.lower_part(part) for name, part in value.items()}
        if isinstance(value, list) and key in LISTS:
            return [self.lower_part(part) for part in value if part is not False]
        if key in SINGLES:
            return value if key == "additionalProperties" and isinstance(value, bool) else self.lower_part(value)
        return None

    def _is_supported(self, key: str, value: Any, schema: dict[str, Any]) -> bool:
        dialect = self._dialect
        if key in NUMBER_BOUNDS:
            return self._is_valid_bound(value, schema)
        if key == "format" and dialect.formats is not None:
            return value in dialect.formats
        return key not in SIZE_BOUNDS or dialect.size_max is None or value <= dialect.size_max


def _is_omittable(key: str, value: Any) -> bool:
    """Return True if a keyword is only worth its tokens for validation, which checks it anyway."""
    if key == "additionalProperties":
        return value is False
    if key == "default":
        return value is None or value in (0, "", [], {})
    if key == "pattern":
        return isinstance(value, str) and not _BLANKS_ONLY.sub("", value)
    if key in SIZE_BOUNDS:
        return value not in _SAID_SIZES and (key, value) != ("minItems", 1)
    return key in ("minimum", "maximum") and (value in (0, 1) or abs(value) >= _FAR)


def _describe_keyword(key: str, value: Any) -> Iterator[str]:
    """Yield a text for a dropped keyword, unless a model need not know it."""
    if key == "uniqueItems" and value is not True:
        return
    if key == "const" and isinstance(value, str):  # `_lower_keywords` turns it into an enum
        return
    if key == "pattern" and (len(value) > _SAID_PATTERN_CHARS or not _BLANKS_ONLY.sub("", value)):
        return
    if key in SIZE_BOUNDS and value not in _SAID_SIZES:
        return
    if key in _IN_WORDS:
        shown = ", ".join(map(repr, value)) if isinstance(value, list) else str(value)
        if len(shown) <= _SAID_CHARS:
            yield _IN_WORDS[key].format(shown)


def _without_null(part: Any) -> Any:
    """Remove null from an optional argument whose default it is: a model can omit the argument instead."""
    if not isinstance(part, dict) or part.get("default", ...) is not None:
        return part
    part = {key: value for key, value in merge_all_of(part).items() if key != "default"}
    for key in ("anyOf", "oneOf"):
        if isinstance(part.get(key), list):
            part[key] = [each for each in part[key] if each != {"type": "null"}]
    for key, null in (("type", "null"), ("enum", None)):
        if isinstance(part.get(key), list) and len(rest := [each for each in part[key] if each != null]) > 0:
            part[key] = rest[0] if key == "type" and len(rest) == 1 else rest
    return _unwrap_single_choice(part)


def _unwrap_single_choice(part: dict[str, Any]) -> dict[str, Any]:
    """Replace a choice of a single schema by that schema; keywords next to the choice take precedence."""
    for key in ("anyOf", "oneOf"):
        only = part.get(key)
        if isinstance(only, list) and len(only) == 1 and isinstance(only[0], dict):
            rest = {name: value for name, value in part.items() if name != key}
            return _unwrap_single_choice(merge_all_of(rest | {"allOf": [*rest.get("allOf", ()), only[0]]}))
    return part


def _merge_prefix_items(part: dict[str, Any]) -> dict[str, Any]:
    """Replace `prefixItems` by `items` that accept in each position what any position accepts."""
    places = part["prefixItems"]
    others = part.get("items")
    rest = {key: value for key, value in part.items() if key not in {"prefixItems", "items"}}
    if others is False:
        rest["maxItems"] = len(places)
    elif rest.get("maxItems", len(places) + 1) > len(places):
        places = [*places, others]
    if not all(map(_is_typed, places)):
        return rest
    different = [place for number, place in enumerate(places) if place not in places[:number]]
    return rest | {"items": _unwrap_single_choice({"anyOf": different})}


def _is_typed(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(schema)


def _of_type(name: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that apply to values of a type."""
    own = _OF_TYPE.get(name, ())
    return {key: value for key, value in keywords.items() if key in own}


_OF_TYPE = {
    "string": ("minLength", "maxLength", "pattern", "format", "enum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": ("items", "minItems", "maxItems", "uniqueItems", "prefixItems"),
    "object": ("properties", "required", "additionalProperties"),
}


def for_models(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without references as it is shown to models.

    An optional argument marked `false` is omitted, but still accepted. A marked text replaces the description.
    """
    made = over_parts(schema, lambda part: for_models(part) if isinstance(part, dict) else part)
    said = made.pop(FOR_MODELS, None)
    made.pop(ALIASES, None)
    made.pop(IGNORED, None)
    made.pop(FLAT, None)
    if isinstance(said, str):
        made["description"] = said
    if isinstance(properties := schema.get("properties"), dict):
        required = schema.get("required", ())
        hidden = {name for name, part in properties.items() if name not in required and is_hidden(part)}
        made["properties"] = {name: part for name, part in made["properties"].items() if name not in hidden}
    return made


def is_hidden(part: Any) -> bool:
    """Return True if an argument is marked as hidden, itself or in its non-null alternative."""
    if not isinstance(part, dict):
        return False
    return part.get(FOR_MODELS) is False or any(map(is_hidden, part.get("anyOf", ())))
