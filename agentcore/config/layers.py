"""Values of several layers merged into one document, each with the place that it comes from."""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentcore.config.file import ConfigFile
from agentcore.config.json_source import JsonPath


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from.

    Args:
        kind: `default` of the model, `app` (app.json), `module` (modules/NAME.json) or `environment`.
        line: Its line there, from 1.
        column: Its column there, from 1; where it has a key, that of the key.
        path: Its path in that file, where a form saves it.
    """

    kind: Literal["default", "app", "module", "environment"] = "default"
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    path: JsonPath = ()
    variable: str | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether no file can change the value, because the environment wins over all files."""
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
        origins: For every value in it, where it comes from. An object's origin is the layer that first gave it.
    """

    values: dict[str, Any] = field(default_factory=dict, repr=False)
    origins: dict[JsonPath, Origin] = field(default_factory=dict)

    def get_value(self, path: JsonPath) -> Any:
        """The value at a path of keys; None where there is none."""
        value: Any = self.values
        for step in path:
            if not isinstance(value, dict) or step not in value:
                return None
            value = value[step]
        return value

    def get_subtree(self, path: JsonPath) -> "Layers":
        """A copy of the part under a path, which has to be an object or missing."""
        size = len(path)
        origins = {known[size:]: origin for known, origin in self.origins.items() if known[:size] == path}
        return Layers(copy.deepcopy(self.get_value(path)) or {}, origins)

    def merge_file(self, file: ConfigFile, kind: Literal["app", "module"]) -> None:
        """Merge a file over the document; one that does not exist changes nothing."""
        if file.exists:
            self.merge((), file.source.value, lambda path: _origin_in(file, kind, path))

    def merge(self, path: JsonPath, value: Any, origin_for: Callable[[JsonPath], Origin]) -> None:
        """Merge a value over what stands at a path.

        Args:
            path: Keys of objects; those that are missing, or are something else, become objects.
            value: What counts there from now on; an object is merged key by key.
            origin_for: Gives the origin for each path at and below `path`.
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
