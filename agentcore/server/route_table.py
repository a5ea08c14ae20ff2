"""The table of the server's own routes, which also is the source of the API description."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from http import HTTPMethod
from importlib import import_module
from urllib.parse import unquote

from aiohttp import web
from pydantic import BaseModel

from agentcore.core.policy.authority import Action
from agentcore.late_dataclasses import dataclass
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import JSON, Answer, Sent

OCTETS = "application/octet-stream"

Handler = Callable[[Exchange], Awaitable[Answer | Sent | web.WebSocketResponse]]


@dataclass(frozen=True, slots=True)
class ServerRoute:
    """One route.

    Args:
        method: `GET`, `POST`, `DELETE`.
        path: Starts with a slash; `{name}` matches one segment, a final `{name...}` one or more.
        handler: Answers the request.
        summary: One sentence that says what the route does.
        action: The right that is needed; None: open to every request that passes the checks of host and origin. A
            principal with that right only in its own sessions is authorised for the session that `{session_id}` in the
            path names, or, without it, if the handler restricts it to its own sessions.
        is_for_extensions: True if a browser extension may send the request, with the key that it was paired with.
        keeps_to_own: True if the handler itself restricts principals to their own sessions.
        query: Model of the query; without one the query is ignored.
        body: Model of the JSON body; without one the body is not read.
        answer: Model of the JSON response, where a model says more than the summary.
        content_type: Media type of the response.
        limit_bytes: Maximum size of the body; None: the server's limit.
        takes: Media type of a body that the handler reads itself as a stream; empty: it reads none.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    action: Action | None = "read"
    is_for_extensions: bool = False
    keeps_to_own: bool = False
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    content_type: str = JSON
    limit_bytes: int | None = None
    takes: str = ""

    @property
    def group(self) -> str:
        """The first meaningful segment of the path: `tools`, `modules`."""
        segments = [segment for segment in self.path.split("/") if segment not in ("", "api")]
        return segments[0] if segments and "{" not in segments[0] else "page"


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """The routes of one file, which is imported at the first request for one of their paths.

    Args:
        file: The name of the module that defines them.
        beginnings: How their paths begin: the segment after `/api/` and what is before it, else the first segment.
        table: The name of their tuple in that module.
    """

    file: str
    beginnings: tuple[str, ...]
    table: str = "ROUTES"

    def load_routes(self) -> tuple[ServerRoute, ...]:
        """Import the file and return its routes."""
        routes: tuple[ServerRoute, ...] = getattr(import_module(self.file), self.table)
        return routes


def load_all_routes(groups: Iterable[RouteGroup]) -> tuple[ServerRoute, ...]:
    """Import the files of all groups and return their routes."""
    return tuple(route for group in groups for route in group.load_routes())


Found = tuple[ServerRoute, dict[str, str]]
_Pattern = tuple[ServerRoute, tuple[str, ...]]


class ServerRoutes:
    """Finds the route for a method and a path.

    Args:
        groups: All routes by group; no two may match the same request.
    """

    def __init__(self, groups: Iterable[RouteGroup]) -> None:
        self._exact: dict[str, dict[str, ServerRoute]] = {}
        self._patterns: dict[tuple[int, str], list[_Pattern]] = {}
        self._prefixes: list[_Pattern] = []
        self._not_imported: dict[str, list[RouteGroup]] = {}
        for group in groups:
            for beginning in group.beginnings:
                self._not_imported.setdefault(beginning, []).append(group)

    async def import_routes(self, path: str) -> bool:
        """Import the files of the routes that begin like a path, in a thread, once; return False if that is done."""
        beginning = path_beginning(path)
        groups = self._not_imported.get(beginning)
        if groups is None:
            return False
        routes = await asyncio.to_thread(load_all_routes, groups)
        if self._not_imported.pop(beginning, None) is not None:  # else another request has added them meanwhile
            for route in routes:
                if path_beginning(route.path) == beginning:
                    self._add_route(route)
        return True

    def find_route(self, method: str, path: str) -> Found | None:
        """Return the route for a request and the decoded values of its placeholders; `HEAD` is served as `GET`.

        Only among routes that were imported: see `import_routes`.
        """
        requested = HTTPMethod.GET if method == HTTPMethod.HEAD else method
        at_path = self._exact.get(path)
        if at_path is not None and requested in at_path:
            return at_path[requested], {}
        for route, values in self._iterate_matches(path):
            if route.method == requested:
                return route, values
        return None

    def list_methods(self, path: str) -> set[str]:
        """Return the methods that are served at a path."""
        found = set(self._exact.get(path, ())) | {route.method for route, _ in self._iterate_matches(path)}
        return found | {"HEAD"} if "GET" in found else found

    def _add_route(self, route: ServerRoute) -> None:
        segments = tuple(route.path.split("/"))
        if "{" not in route.path:
            self._exact.setdefault(route.path, {})[route.method] = route
        elif segments[-1].endswith("...}"):
            self._prefixes.append((route, segments))
        else:
            self._patterns.setdefault(_group_key(segments), []).append((route, segments))

    def _iterate_matches(self, path: str) -> Iterable[Found]:
        segments = path.split("/")
        for route, pattern in self._patterns.get(_group_key(segments), ()):
            if (values := _match_pattern(pattern, segments)) is not None:
                yield route, values
        for route, pattern in self._prefixes:
            if len(segments) >= len(pattern):
                joined = [*segments[: len(pattern) - 1], "/".join(segments[len(pattern) - 1 :])]
                if (values := _match_pattern(pattern, joined)) is not None:
                    yield route, values


@lru_cache
def route_finder(groups: tuple[RouteGroup, ...]) -> ServerRoutes:
    """Return the lookup table for these routes, created once: route tables never change."""
    return ServerRoutes(groups)


def path_beginning(path: str) -> str:
    """Return the part of a path that its group is found by: `/api/tools` of `/api/tools/x`, else the first segment."""
    segments = path.split("/", 3)
    return "/".join(segments[: 3 if segments[1] == "api" else 2])


def _group_key(segments: Sequence[str]) -> tuple[int, str]:
    """Return the key by which routes with placeholders are grouped: their length and the segment after `/api/`."""
    return len(segments), segments[2] if len(segments) > 2 else ""  # noqa: PLR2004 - the place of the first name


def _match_pattern(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    values: dict[str, str] = {}
    for part, segment in zip(pattern, segments, strict=True):
        if not part.startswith("{"):
            if part != segment:
                return None
            continue
        if not segment:
            return None
        values[part.strip("{.}")] = unquote(segment, errors="replace") if "%" in segment else segment
    return values
