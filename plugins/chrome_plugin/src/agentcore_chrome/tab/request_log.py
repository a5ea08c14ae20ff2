"""The requests of a page: more of them than the driver keeps, and what became of each."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import Page, Request, Response

STATIC = frozenset(("image", "font", "stylesheet", "script", "media"))
"""Types of requests for the parts that a page is made of, which hardly ever say what it does."""

_KEPT = 500
_URL_CHARS = 2000


class RequestLog:
    """The latest requests of a page: static ones apart from all others, so that neither displace the other ones."""

    def __init__(self) -> None:
        self._static: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_KEPT)
        self._others: deque[tuple[int, dict[str, Any]]] = deque(maxlen=_KEPT)
        self._open: dict[Request, dict[str, Any]] = {}
        self._counts = {True: 0, False: 0}
        self._handlers: dict[str, Any] = {
            "request": self._on_request,
            "response": self._on_response,
            "requestfailed": self._on_failure,
            "requestfinished": self._on_finished,
        }

    def subscribe(self, page: "Page") -> None:
        """Record the requests of a page from now on."""
        for event, handler in self._handlers.items():
            page.on(event, handler)  # type: ignore[call-overload]

    def unsubscribe(self, page: "Page") -> None:
        """Stop recording."""
        for event, handler in self._handlers.items():
            page.remove_listener(event, handler)

    def list_requests(self, *, with_static: bool) -> list[dict[str, Any]]:
        """Return the requests in order: `{method, url, type, status, failure}`."""
        return [request for _, request in sorted(self._iterate(with_static), key=lambda numbered: numbered[0])]

    def count(self, *, is_static: bool) -> int:
        """Return how many requests there have been, also those that are no longer kept."""
        return self._counts[is_static]

    def _iterate(self, with_static: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        yield from self._others
        if with_static:
            yield from self._static

    def _on_request(self, request: "Request") -> None:
        made = {
            "method": request.method,
            "url": request.url[:_URL_CHARS],
            "type": request.resource_type,
            "status": None,
            "failure": None,
        }
        is_static = request.resource_type in STATIC
        number = sum(self._counts.values())
        self._counts[is_static] += 1
        (self._static if is_static else self._others).append((number, made))
        self._open[request] = made

    def _on_response(self, response: "Response") -> None:
        if (made := self._open.get(response.request)) is not None:
            made["status"] = response.status

    def _on_finished(self, request: "Request") -> None:
        self._open.pop(request, None)

    def _on_failure(self, request: "Request") -> None:
        if (made := self._open.pop(request, None)) is not None:
            made["failure"] = request.failure
