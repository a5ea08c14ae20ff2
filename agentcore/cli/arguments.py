"""Arguments of a tool from the command line: `key=value`, by the types that the tool's schema gives."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentcore.cli.terminal.exits import CliError
from agentcore.valid_text import with_valid_text

FILE_BYTES = 2 * 1024 * 1024
"""Bound of a value that is read from a file."""

_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))

Schema = Mapping[str, Any]


def schema_of(tools: Sequence[Mapping[str, Any]], name: str) -> Schema:
    """The input schema of a tool; an empty one for an unknown tool, of which the host speaks better."""
    return next((tool["input_schema"] for tool in tools if tool["name"] == name), {})


def parse_arguments(schema: Schema, base: str | None, words: Sequence[str]) -> dict[str, Any]:
    """Make the arguments of a call.

    Args:
        schema: The tool's input schema.
        base: The text of a JSON object to begin with, `@FILE`, or `-` for stdin.
        words: `key=value` (by the schema's type; text stays text), `key=@FILE` (its content), `key:=JSON`. A key
            that is given again adds to a list.
    Raises:
        CliError: A word has none of these forms, or its value is not of the type.
    """
    arguments = {} if base is None else _object(base)
    given: set[str] = set()
    for word in words:
        key, value = _parsed(schema, word)
        if key in given and isinstance(arguments[key], list) and isinstance(value, list):
            arguments[key] = [*arguments[key], *value]
        elif key in given:
            raise CliError(f"argument {key!r} is given twice, and it is not a list")
        else:
            arguments[key] = value
        given.add(key)
    made: dict[str, Any] = with_valid_text(arguments)
    return made


def _object(base: str) -> dict[str, Any]:
    text = sys.stdin.read() if base == "-" else _file_text(base[1:]) if base.startswith("@") else base
    value = _json("--json-arguments", text)
    if not isinstance(value, dict):
        raise CliError("--json-arguments must be a JSON object", hint='for example --json-arguments \'{"path": "."}\'')
    return value


def _parsed(schema: Schema, word: str) -> tuple[str, Any]:
    key, sign, text = word.partition("=")
    if not sign or key in ("", ":"):
        raise CliError(f"{word!r} is no argument", hint="write key=value, key=@FILE for a file's content, or key:=JSON")
    if key.endswith(":"):
        return key[:-1], _json(key[:-1], text)
    if text.startswith("@"):
        text = _file_text(text[1:])
    return key, _typed(key, text, _Types.of(schema, schema.get("properties", {}).get(key, {})))


class _Types:
    """The JSON types that one part of a schema allows, and the schema of a list's elements."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.items: Schema = {}
        self.root: Schema = {}

    @classmethod
    def of(cls, root: Schema, part: Schema) -> "_Types":
        types = cls()
        types.root = root
        for branch in _branches(root, part):
            types._add(branch)
        return types

    def _add(self, branch: Schema) -> None:
        named = branch.get("type", [])
        self.names.update([named] if isinstance(named, str) else named)
        values = [*branch.get("enum", []), *([branch["const"]] if "const" in branch else [])]
        if "type" not in branch:
            self.names.update(_type_of(value) for value in values)
        if isinstance(branch.get("items"), Mapping):
            self.items = branch["items"]


def _branches(root: Schema, part: Schema, depth: int = 0) -> Iterator[Schema]:
    """The alternatives of a schema, with references resolved; a schema that refers to itself ends."""
    if depth > 8:  # noqa: PLR2004 - deeper than schemas are nested, and a reference may lead to itself
        return
    reference = part.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        yield from _branches(root, root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {}), depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in part.get(key, []):
            yield from _branches(root, inner, depth + 1)
    yield part


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _typed(key: str, text: str, types: _Types) -> Any:
    names = types.names
    if not names:
        return _json_or_text(text)
    if "array" in names and "string" not in names:
        return _list(key, text, types)
    if "string" in names:
        return text
    for name, read in _READERS:
        if name in names:
            try:
                return read(text)
            except ValueError:
                continue
    raise CliError(
        f"argument {key!r} must be {_expected(names)}, not {text[:80]!r}", hint=f"{key}:=JSON gives any value"
    )


def _list(key: str, text: str, types: _Types) -> Any:
    if text.lstrip().startswith("["):
        return _json(key, text)
    if "null" in types.names and text == "null":
        return None
    return [_typed(key, text, _Types.of(types.root, types.items))]


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(text)
    return word in _TRUE


def _integer(text: str) -> int:
    value = json.loads(text)
    if type(value) is not int:
        raise ValueError(text)
    return value


def _number(text: str) -> float:
    value = json.loads(text, parse_constant=_refuse)
    if type(value) not in (int, float):
        raise ValueError(text)
    return value  # type: ignore[no-any-return]  # the type was checked just before


def _null(text: str) -> None:
    if text != "null":
        raise ValueError(text)


def _json_object(text: str) -> dict[str, Any]:
    value = json.loads(text, parse_constant=_refuse)
    if not isinstance(value, dict):
        raise ValueError(text)
    return value


_READERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("null", _null),
    ("integer", _integer),
    ("number", _number),
    ("boolean", _boolean),
    ("object", _json_object),
)


def _json(key: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError as exc:
        raise CliError(f"{key} is not valid JSON: {exc}", hint="mind the quotes of the shell: key:='[1, 2]'") from exc


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except ValueError:
        return text


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _expected(names: set[str]) -> str:
    words = {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "object": "a JSON object",
        "null": "null",
        "array": "a JSON list",
    }
    return " or ".join(word for name, word in words.items() if name in names)


def _file_text(name: str) -> str:
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


def described_type(root: Schema, part: Schema) -> str:
    """The types that a part of a schema allows, for people: `text, number`, or the values of a fixed set."""
    values = [value for branch in _branches(root, part) for value in branch.get("enum", [])]
    if values:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    words = {"string": "text", "integer": "whole number", "boolean": "true/false", "array": "list"}
    names = sorted(_Types.of(root, part).names - {"null"})
    return " or ".join(words.get(name, name) for name in names) or "any value"
