"""Values of several layers merged into one document, each with its origin."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from agentcore.config.config_file import ConfigFile
from agentcore.config.json_source import JsonPath
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value.

    Args:
        kind: `default` of the model, `app` (app.json), `module` (modules/NAME.json) or `environment`.
        line: Its line in the file, from 1.
        column: Its column in the file, from 1; that of its key if it has one.
        path: Its path in the file, for forms that save it.
    """

    kind: Literal["default", "app", "module", "environment"] = "default"
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    path: JsonPath = ()
    variable: str | None = None

    @property
    def is_read_only(self) -> bool:
        """True if no file can change the value, because the environment overrides all files."""
        return self.kind == "environment"

    def __str__(self) -> str:
        if self.variable is not None:
            return f"environment variable {self.variable}"
        return "default" if self.file is None else f"{self.file}:{self.line}"


DEFAULT = Origin()

Origins = Mapping[JsonPath, Origin]


@dataclass
class Layers:
    """A document made of layers: objects are merged key by key, everything else is replaced by a later layer.

    Args:
        values: The document so far.
        origins: The origin of every value in it. An object's origin is the first layer that set it.
    """

    values: dict[str, Any] = field(default_factory=dict, repr=False)
    origins: dict[JsonPath, Origin] = field(default_factory=dict)

    def get_value(self, path: JsonPath) -> Any:
        """Return the value at a path of keys, or None."""
        value: Any = self.values
        for step in path:
            if not isinstance(value, dict) or step not in value:
                return None
            value = value[step]
        return value

    def get_subtree(self, path: JsonPath) -> "Layers":
        """Return a copy of the part under a path, which must be an object or missing."""
        size = len(path)
        origins = {known[size:]: origin for known, origin in self.origins.items() if known[:size] == path}
        return Layers(copy.deepcopy(self.get_value(path)) or {}, origins)

    def merge_file(self, file: ConfigFile, kind: Literal["app", "module"]) -> None:
        """Merge a file over the document; a missing file changes nothing."""
        if file.exists:
            self.merge((), file.source.value, lambda path: _origin_in(file, kind, path))

    def merge(self, path: JsonPath, value: Any, origin_for: Callable[[JsonPath], Origin]) -> None:
        """Merge a value over the value at a path.

        Args:
            path: Keys of objects; missing or other values on the way become objects.
            value: The new value; an object is merged key by key.
            origin_for: Returns the origin of each path at and below `path`.
        """
        here = self.get_value(path)
        if isinstance(here, dict) and isinstance(value, dict):
            self.origins.setdefault(path, origin_for(path))
            for key, inner in value.items():
                self.merge((*path, key), inner, origin_for)
            return
        parent = self._object_at(path[:-1], origin_for)
        parent[path[-1]] = copy.deepcopy(value)
        if path in self.origins:
            self._delete_origins(path)
        self.origins.update({inner: origin_for(inner) for inner in _iterate_paths(value, path)})

    def _object_at(self, path: JsonPath, origin_for: Callable[[JsonPath], Origin]) -> Any:
        if not isinstance(self.get_value(path), dict):
            self.merge(path, {}, origin_for)
        return self.get_value(path)

    def _delete_origins(self, path: JsonPath) -> None:
        for known in [known for known in self.origins if known[: len(path)] == path]:
            del self.origins[known]


def _iterate_paths(value: Any, path: JsonPath) -> Iterator[JsonPath]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from _iterate_paths(part, (*path, step))


def _origin_in(file: ConfigFile, kind: Literal["app", "module"], path: JsonPath) -> Origin:
    line, column = file.source.locate_key(path)
    return Origin(kind, file.path, line, column, path)
