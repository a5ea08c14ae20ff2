"""Parses tool arguments from the command line: `key=value`, with the types of the tool's schema."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentcore.cli.terminal.exit_codes import CliError
from agentcore.valid_text import with_valid_text

FILE_BYTES = 2 * 1024 * 1024
"""Maximum size of a value that is read from a file."""

_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))

Schema = Mapping[str, Any]


def find_schema(tools: Sequence[Mapping[str, Any]], name: str) -> Schema:
    """Return a tool's input schema, or an empty one for an unknown tool, which the core reports better."""
    return next((tool["input_schema"] for tool in tools if tool["name"] == name), {})


def parse_arguments(schema: Schema, base: str | None, words: Sequence[str]) -> dict[str, Any]:
    """Parse the arguments of a call.

    Args:
        schema: The tool's input schema.
        base: The text of a JSON object to start with, `@FILE`, or `-` for stdin.
        words: `key=value` (converted to the schema's type; text stays text), `key=@FILE` (its content), `key:=JSON`.
            Repeating the key of a list adds to the list.
    Raises:
        CliError: A word has none of these forms, or its value does not have the schema's type.
    """
    arguments = {} if base is None else _parse_base_object(base)
    given: set[str] = set()
    for word in words:
        key, value = _parse_argument(schema, word)
        if key in given and isinstance(arguments[key], list) and isinstance(value, list):
            arguments[key] = [*arguments[key], *value]
        elif key in given:
            raise CliError(f"argument {key!r} is given twice, and it is not a list")
        else:
            arguments[key] = value
        given.add(key)
    made: dict[str, Any] = with_valid_text(arguments)
    return made


def _parse_base_object(base: str) -> dict[str, Any]:
    text = sys.stdin.read() if base == "-" else _read_file_text(base[1:]) if base.startswith("@") else base
    value = _parse_json("--json-arguments", text)
    if not isinstance(value, dict):
        raise CliError("--json-arguments must be a JSON object", hint='for example --json-arguments \'{"path": "."}\'')
    return value


def _parse_argument(schema: Schema, word: str) -> tuple[str, Any]:
    key, sign, text = word.partition("=")
    if not sign or key in ("", ":"):
        raise CliError(f"{word!r} is no argument", hint="write key=value, key=@FILE for a file's content, or key:=JSON")
    if key.endswith(":"):
        return key[:-1], _parse_json(key[:-1], text)
    if text.startswith("@"):
        text = _read_file_text(text[1:])
    return key, _convert_text(key, text, _Types.from_schema(schema, schema.get("properties", {}).get(key, {})))


class _Types:
    """The JSON types that one part of a schema allows, and the schema of a list's elements."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.items: Schema = {}
        self.root: Schema = {}

    @classmethod
    def from_schema(cls, root: Schema, part: Schema) -> "_Types":
        types = cls()
        types.root = root
        for branch in _iterate_branches(root, part):
            types._add_branch(branch)
        return types

    def _add_branch(self, branch: Schema) -> None:
        named = branch.get("type", [])
        self.names.update([named] if isinstance(named, str) else named)
        values = [*branch.get("enum", []), *([branch["const"]] if "const" in branch else [])]
        if "type" not in branch:
            self.names.update(_type_of(value) for value in values)
        if isinstance(branch.get("items"), Mapping):
            self.items = branch["items"]


def _iterate_branches(root: Schema, part: Schema, depth: int = 0) -> Iterator[Schema]:
    """Yield the alternatives of a schema with references resolved, to a limited depth for recursive schemas."""
    if depth > 8:  # noqa: PLR2004 - deeper than schemas are nested, and a reference may lead to itself
        return
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        yield from _iterate_branches(root, root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in part.get(key, []):
            yield from _iterate_branches(root, inner, depth + 1)
    yield part


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _convert_text(key: str, text: str, types: _Types) -> Any:
    names = types.names
    if not names:
        return _parse_json_or_text(text)
    if "array" in names and "string" not in names:
        return _convert_list(key, text, types)
    if "string" in names:
        return text
    for name, read in _READERS:
        if name in names:
            try:
                return read(text)
            except ValueError:
                continue
    raise CliError(
        f"argument {key!r} must be {_describe_types(names)}, not {text[:80]!r}", hint=f"{key}:=JSON gives any value"
    )


def _convert_list(key: str, text: str, types: _Types) -> Any:
    if text.lstrip().startswith("["):
        return _parse_json(key, text)
    if "null" in types.names and text == "null":
        return None
    return [_convert_text(key, text, _Types.from_schema(types.root, types.items))]


def _parse_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text)
    return word in _TRUE


def _parse_integer(text: str) -> int:
    value = json.loads(text)
    if type(value) is not int:
        raise ValueError(text)
    return value


def _parse_number(text: str) -> float:
    value = json.loads(text, parse_constant=_refuse_constant)
    if type(value) not in (int, float):
        raise ValueError(text)
    return value  # type: ignore[no-any-return]  # the type was checked just before


def _parse_null(text: str) -> None:
    if text != "null":
        raise ValueError(text)


def _parse_object(text: str) -> dict[str, Any]:
    value = json.loads(text, parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value


_READERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("null", _parse_null),
    ("integer", _parse_integer),
    ("number", _parse_number),
    ("boolean", _parse_boolean),
    ("object", _parse_object),
)


def _parse_json(key: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as exc:
        raise CliError(f"{key} is not valid JSON: {exc}", hint="mind the quotes of the shell: key:='[1, 2]'") from exc


def _parse_json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _describe_types(names: set[str]) -> str:
    words = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "object": "a JSON object",
        "null": "null",
        "array": "a JSON list",
    }
    return " or ".join(word for name, word in words.items() if name in names)


def _read_file_text(name: str) -> str:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(FILE_BYTES + 1)
        else:
            with Path(name).expanduser().open("rb") as file:
                data = file.read(FILE_BYTES + 1)
    except OSError as exc:
        raise CliError(f"cannot read {name!r}: {exc.strerror}") from exc
    if len(data) > FILE_BYTES:
        raise CliError(
            f"{name!r} is larger than {FILE_BYTES} bytes", hint="put it into the workspace, and pass its path"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise CliError(f"{name!r} is not UTF-8 text") from exc


def describe_type(root: Schema, part: Schema) -> str:
    """Describe the types that a part of a schema allows, such as `number or text`, or the values of an enum."""
    values = [value for branch in _iterate_branches(root, part) for value in branch.get("enum", [])]
    if values:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    words = {"string": "text", "integer": "whole number", "boolean": "true/false", "array": "list"}
    names = sorted(_Types.from_schema(root, part).names - {"null"})
    return " or ".join(words.get(name, name) for name in names) or "any value"
