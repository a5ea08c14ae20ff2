"""Routes that modules serve, while the server runs: a table of our own, free of any web framework."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from pydantic import BaseModel

from agentcore.api.context import KeyScope
from agentcore.api.web import Route, RouteHandler, RouteKind
from agentcore.core.containment.reading import WrongValueError, read_model, read_text

_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE"))
_SEGMENT = re.compile(r"(?!\.+$)[A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}")

Segments = tuple[str, ...]


@dataclass(eq=False)
class ModuleRoute:
    """One route of a module, and how to notify its open streams when it is removed."""

    module: str
    method: str
    segments: Segments
    handler: RouteHandler
    body: type[BaseModel] | None
    query: type[BaseModel] | None
    kind: RouteKind
    watching: type[BaseModel] | None = None
    scope: KeyScope | None = None
    enders: set[Callable[[], None]] = field(default_factory=set)

    @property
    def path(self) -> str:
        """The path as it was declared."""
        return "/" + "/".join(self.segments)


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

    def add(
        self,
        module: str,
        claims: tuple[str, ...],
        method: str,
        path: str,
        handler: RouteHandler,
        *,
        body: type[BaseModel] | None = None,
        query: type[BaseModel] | None = None,
        kind: RouteKind = "json",
        watching: type[BaseModel] | None = None,
        scope: KeyScope | None = None,
    ) -> Route:
        """Serve a path.

        Raises:
            TypeError: An argument is of another kind than expected.
            ValueError: The path is not the module's to serve, is served already, or is no path.
        """
        of = f"module {module!r}"
        method = read_text(method, f"method of add_route in {of}")
        path = read_text(path, f"path of add_route in {of}")
        host, _, name = module.rpartition("/")
        home = f"/api/hosts/{host}/modules/{name}/" if host else f"/api/modules/{name}/"
        full = path if path.startswith("/") else home + path
        segments = tuple(full.strip("/").split("/"))
        where = f"of route {method} {full} in {of}"
        if method not in _METHODS:
            raise ValueError(f"method {where} must be one of {sorted(_METHODS)}")
        if read_text(kind, f"kind {where}") not in get_args(RouteKind):
            raise ValueError(f"kind {where} must be one of {get_args(RouteKind)}, not {kind!r}")
        if not callable(handler):
            raise WrongValueError(f"handler {where}", "an async function (request) -> Response", handler)
        body = read_model(body, f"body {where}")
        query = read_model(query, f"query {where}")
        if watching is not None and kind != "websocket":
            raise ValueError(f"route {method} {full} of kind {kind!r}: only a WebSocket is watched")
        if scope is not None and read_text(scope, f"scope {where}") not in get_args(KeyScope):
            raise ValueError(f"scope {where} must be one of {get_args(KeyScope)}, not {scope!r}")
        if not all(_SEGMENT.fullmatch(segment) for segment in segments):
            raise ValueError(f"route path {full!r} must be made of plain segments and {{placeholders}}")
        if not full.startswith(home) and not any(
            full == claim or full.startswith(f"{claim.rstrip('/')}/") for claim in claims
        ):
            raise ValueError(f"route path {full!r} is outside of {home} and not among the module's claims")
        for other in self._routes:
            if other.method == method and _segments_overlap(other.segments, segments):
                raise ValueError(f"route {method} {full} is served by module {other.module!r} already")
        route = ModuleRoute(module, method, segments, handler, body, query, kind, watching, scope)
        self._routes.append(route)
        self.version += 1
        return Route(method, full, lambda: self._remove_route(route))

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
