"""Edits single values in the clients' JSON, TOML and YAML files, preserving comments and order."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from agentcore.cli.clients.commented_json import CommentedJson
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.config.json_source import JsonSyntaxError
from agentcore.installing import pip_command

Format = Literal["json", "toml", "yaml", "yaml_list"]
"""`yaml_list`: YAML in which the servers are a list, each with its name as a member."""

Path = tuple[str, ...]


class Document(Protocol):
    """The text of a file and its parsed value."""

    @property
    def value(self) -> Any:
        """The parsed value."""
        ...

    def with_value(self, path: Path, value: Any) -> str:
        """Return the text with a value inserted or replaced.

        Raises:
            ValueError: The path leads through a value that is not an object.
        """
        ...

    def without_value(self, path: Path) -> str:
        """Return the text without a member."""
        ...


def read_document(text: str, kind: Format, name: str) -> Document:
    """Parse the text of a client's file.

    Raises:
        CliError: The text is not in the given format, or the parser is not installed.
    """
    readers: Mapping[Format, Any] = {"json": CommentedJson, "toml": _Toml, "yaml": _Yaml, "yaml_list": _YamlList}
    try:
        document: Document = readers[kind](text)
    except ImportError as exc:
        raise CliError(f"{exc.name} is not installed", hint=pip_command("agentcore-runtime[mcp]")) from exc
    except (JsonSyntaxError, ValueError) as exc:
        message = f"{name} cannot be read: {str(exc).splitlines()[0]}"
        raise CliError(message, hint="mend it first; nothing was changed", code=ExitCode.USAGE) from exc
    if not isinstance(document.value, Mapping):
        raise CliError(f"{name} holds no object", hint="mend it first; nothing was changed")
    return document


def find_member(value: Any, path: Sequence[str]) -> Any:
    """Return the value at a path; None if there is none."""
    for key in path:
        if isinstance(value, list):
            value = next((each for each in value if isinstance(each, Mapping) and each.get("name") == key), None)
        elif isinstance(value, Mapping):
            value = value.get(key)
        else:
            return None
    return value


class _Toml:
    def __init__(self, text: str) -> None:
        import tomlkit
        from tomlkit.exceptions import ParseError

        try:
            self.value = tomlkit.parse(text)
        except ParseError as exc:
            raise ValueError(str(exc)) from exc

    def with_value(self, path: Path, value: Any) -> str:
        import tomlkit

        place: Any = self.value
        for key in path[:-1]:
            if key not in place:
                place[key] = tomlkit.table(is_super_table=True)
            place = place[key]
            if not isinstance(place, Mapping):
                raise ValueError(f"{key} is no table")
        place[path[-1]] = value
        return tomlkit.dumps(self.value)

    def without_value(self, path: Path) -> str:
        import tomlkit

        parent = find_member(self.value, path[:-1])
        if isinstance(parent, Mapping) and path[-1] in parent:
            del parent[path[-1]]  # type: ignore[attr-defined]  # tomlkit's tables can be changed
        return tomlkit.dumps(self.value)


_INDENTATIONS = ((2, 2, 0), (2, 4, 2), (4, 4, 0), (4, 4, 2), (4, 6, 4), (2, 3, 1))
"""Of mappings, of the contents of lists, and of the dash before these, in columns; the first is ruamel's own."""


class _Yaml:
    def __init__(self, text: str) -> None:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        self._yaml = YAML()
        self._yaml.preserve_quotes = True
        self._yaml.width = 4096
        try:
            self.value = self._yaml.load(text) if text.strip() else {}
        except YAMLError as exc:
            raise ValueError(str(exc)) from exc
        self._keep_indentation(text)

    def _keep_indentation(self, text: str) -> None:
        """Write with the indentation that leaves most lines of the text as they are; ruamel's own changes them all."""
        lines = text.splitlines()

        def count_kept_lines(widths: tuple[int, int, int]) -> int:
            self._set_indentation(widths)
            return sum(one == other for one, other in zip(lines, self._dump().splitlines(), strict=False))

        self._set_indentation(max(_INDENTATIONS, key=count_kept_lines))

    def _set_indentation(self, widths: tuple[int, int, int]) -> None:
        mapping, sequence, offset = widths
        self._yaml.indent(mapping=mapping, sequence=sequence, offset=offset)

    def with_value(self, path: Path, value: Any) -> str:
        place: Any = self.value
        for key in path[:-1]:
            if place.get(key) is None:
                place[key] = {}
            place = place[key]
            if not isinstance(place, Mapping):
                raise ValueError(f"{key} is no mapping")
        place[path[-1]] = value
        return self._dump()

    def without_value(self, path: Path) -> str:
        parent = find_member(self.value, path[:-1])
        if isinstance(parent, Mapping) and path[-1] in parent:
            del parent[path[-1]]  # type: ignore[attr-defined]  # ruamel's mappings can be changed
        return self._dump()

    def _dump(self) -> str:
        written = io.StringIO()
        self._yaml.dump(self.value, written)
        return written.getvalue()


class _YamlList(_Yaml):
    """The format of Continue: https://docs.continue.dev/reference"""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        if not self.value:
            self.value = {"name": "Local config", "version": "1.0.0", "schema": "v1"}  # all required in a new file

    def with_value(self, path: Path, value: Any) -> str:
        (key, name) = path
        listed = self.value.get(key)
        if listed is None:
            listed = self.value[key] = []
        if not isinstance(listed, list):
            raise ValueError(f"{key} is no list")
        place = next((number for number, each in enumerate(listed) if find_member([each], [name])), None)
        if place is None:
            listed.append(value)
        else:
            listed[place] = value
        return self._dump()

    def without_value(self, path: Path) -> str:
        (key, name) = path
        listed = self.value.get(key)
        if isinstance(listed, list):
            listed[:] = [each for each in listed if not find_member([each], [name])]
        return self._dump()
