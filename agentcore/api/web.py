"""A module's web component, and the routes that it serves."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol

from agentcore.api.tool_context import Principal
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebComponent:
    """A module's web component in the page.

    Args:
        tag: Custom element name, beginning with the module's name (`weather-panel`).
        script: ES module that defines the element, a path relative to `folder`.
        folder: The folder whose files are served under `/modules/NAME/`; it must not contain secrets.
        title: The title in the side bar, or a mapping from language (`en`, `zh`) to text.
        icon: Name of an icon of the page, or the path of an SVG relative to `folder`.
        resource_views: Resource type to the tag of the element that shows one; it gets `resourceId`.
        page_script: A script, relative to `folder`, that is loaded before the application's own.
        csp: Additions to the page's Content-Security-Policy, directive to sources.
        group: The group of the side bar that lists it: what the user works with, or what the user manages.
    """

    tag: str
    script: str
    folder: Path
    title: str | Mapping[str, str]
    icon: str = ""
    resource_views: Mapping[str, str] = field(default_factory=dict)
    page_script: str | None = None
    csp: Mapping[str, Sequence[str]] = field(default_factory=dict)
    group: Literal["work", "manage"] = "work"


class Socket(Protocol):
    """The server's end of a WebSocket."""

    async def send(self, message: str | bytes) -> None:
        """Send one message.

        Raises:
            ConnectionError: The other side is gone.
        """
        ...

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Messages as they arrive, until the other side closes."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End the connection."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to a module's route; it has passed the gate.

    Args:
        method: Upper case.
        path: The path as requested.
        path_values: Values of `{placeholders}` in the route's path.
        query: The query, validated by the route's model if it has one.
        headers: Names in lower case; credentials are left out.
        body: The JSON body, validated by the route's model if it has one; bytes for other content types; None.
        principal: Who makes the request.
        page_session: Id of the page session, if the page makes the request.
        socket: The WebSocket, for routes of that kind.
    """

    method: str
    path: str
    path_values: Mapping[str, str]
    query: Any
    headers: Mapping[str, str]
    body: Any
    principal: Principal
    page_session: str | None = None
    socket: Socket | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """The answer of a module's route.

    Args:
        body: A JSON value, bytes (with `mime`), or, from a `stream` route, an async iterator of bytes.
        status: HTTP status.
        mime: Content type of bytes and streams.
        headers: Further headers; those of the gate cannot be replaced.
    """

    body: Any = None
    status: int = 200
    mime: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


RouteKind = Literal["json", "stream", "websocket"]
RouteHandler = Callable[[Request], Awaitable[Response | None]]


@dataclass(frozen=True, slots=True)
class Route:
    """A module's route; `remove` removes it and ends its open streams."""

    method: str
    path: str
    remove: Callable[[], None] = field(repr=False)
