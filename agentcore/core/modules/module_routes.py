"""Routes that modules serve, while the server runs: a table of our own, free of any web framework."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import get_args

from pydantic import BaseModel

from agentcore.api.tool_context import KeyScope
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.core.module_code.value_reading import WrongValueError, read_model, read_text
from agentcore.late_dataclasses import dataclass

_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))
_SEGMENT = re.compile(r"(?!\.+$)[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}")

Segments = tuple[str, ...]


@dataclass(eq=False)
class ModuleRoute:
    """One route of a module, and how to notify its open streams when it is removed.

    Args:
        module: The module's name.
        path: Absolute, or relative to the module's own part of the server.
    """

    module: str
    method: str
    path: str
    handler: RouteHandler
    body: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    kind: RouteKind = "json"
    watching: type[BaseModel] | None = None
    scope: KeyScope | None = None
    enders: set[Callable[[], None]] = field(default_factory=set)

    @cached_property
    def segments(self) -> Segments:
        """The parts of its path."""
        return tuple(self.path.strip("/").split("/"))

    def check(self, claims: Collection[str]) -> None:
        """Check what the module passed, strictly, and make its path absolute.

        Args:
            claims: Paths outside of its own part that the module serves.
        Raises:
            TypeError: A value is of another kind than expected.
            ValueError: The path is not the module's to serve, or is no path.
        """
        of = f"module {self.module!r}"
        self.method = read_text(self.method, f"method of add_route in {of}")
        path = read_text(self.path, f"path of add_route in {of}")
        self.path = path if path.startswith("/") else self._home + path
        where = f"of route {self.method} {self.path} in {of}"
        if self.method not in _METHODS:
            raise ValueError(f"method {where} must be one of {sorted(_METHODS)}")
        if read_text(self.kind, f"kind {where}") not in get_args(RouteKind):
            raise ValueError(f"kind {where} must be one of {get_args(RouteKind)}, not {self.kind!r}")
        if not callable(self.handler):
            raise WrongValueError(f"handler {where}", "an async function (request) -> Response", self.handler)
        self.body = read_model(self.body, f"body {where}")
        self.query = read_model(self.query, f"query {where}")
        if self.watching is not None and self.kind != "websocket":
            raise ValueError(f"route {self.method} {self.path} of kind {self.kind!r}: only a WebSocket is watched")
        if self.scope is not None and read_text(self.scope, f"scope {where}") not in get_args(KeyScope):
            raise ValueError(f"scope {where} must be one of {get_args(KeyScope)}, not {self.scope!r}")
        self._check_path(claims)

    @property
    def _home(self) -> str:
        host, _, name = self.module.rpartition("/")
        return f"/api/hosts/{host}/modules/{name}/" if host else f"/api/modules/{name}/"

    def _check_path(self, claims: Collection[str]) -> None:
        path = self.path
        if not all(_SEGMENT.fullmatch(segment) for segment in self.segments):
            raise ValueError(f"route path {path!r} must be made of plain segments and {{placeholders}}")
        is_claimed = any(path == claim or path.startswith(f"{claim.rstrip('/')}/") for claim in claims)
        if not path.startswith(self._home) and not is_claimed:
            raise ValueError(f"route path {path!r} is outside of {self._home} and not among the module's claims")


class RouteTable:
    """Finds the module's route for a method and a path.

    Attributes:
        version: Another one whenever a route was added or removed.
    """

    def __init__(self) -> None:
        self._routes: list[ModuleRoute] = []
        self.version = 0

    def __iter__(self) -> Iterator[ModuleRoute]:
        return iter(self._routes)

    def add_route(self, route: ModuleRoute) -> Route:
        """Serve a path.

        Args:
            route: Checked.
        Raises:
            ValueError: The path is served already.
        """
        for other in self._routes:
            if other.method == route.method and _segments_overlap(other.segments, route.segments):
                message = f"route {route.method} {route.path} is served by module {other.module!r} already"
                raise ValueError(message)
        self._routes.append(route)
        self.version += 1
        return Route(route.method, route.path, lambda: self._remove_route(route))

    def find_route(self, method: str, path: str) -> tuple[ModuleRoute, Mapping[str, str]] | None:
        """The route for a request, with the values of its placeholders."""
        segments = tuple(path.strip("/").split("/"))
        for route in self._routes:
            if route.method == method and (values := _match_segments(route.segments, segments)) is not None:
                return route, values
        return None

    def routes_of_module(self, module: str) -> list[ModuleRoute]:
        """The routes of one module, in the order in which it added them."""
        return [route for route in self._routes if route.module == module]

    def methods_at(self, path: str) -> list[str]:
        """Methods that are served at a path."""
        segments = tuple(path.strip("/").split("/"))
        return sorted({route.method for route in self._routes if _match_segments(route.segments, segments) is not None})

    def _remove_route(self, route: ModuleRoute) -> None:
        if route in self._routes:
            self._routes.remove(route)
            self.version += 1
            for end in tuple(route.enders):
                end()


def _match_segments(pattern: Segments, segments: Segments) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    values: dict[str, str] = {}
    for part, segment in zip(pattern, segments, strict=True):
        if part.startswith("{"):
            values[part[1:-1]] = segment
        elif part != segment:
            return None
    return values


def _segments_overlap(one: Segments, other: Segments) -> bool:
    return len(one) == len(other) and all(
        a == b or a.startswith("{") or b.startswith("{") for a, b in zip(one, other, strict=True)
    )
