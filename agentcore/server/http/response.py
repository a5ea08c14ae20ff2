"""A response that is sent in one write: status, prepared headers, body.

aiohttp's own response builds and serialises a dictionary of headers for each request, which costs more than a whole
call of a small tool. This one has the interface that aiohttp's connection uses (`prepare`, `write_eof`, `keep_alive`).
"""

import re
import time
from collections.abc import Callable, Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

from aiohttp import web

from agentcore.server.http.unread_answers import UNREAD_ANSWERS, room_for_answer

SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Sent with every response; a route may replace `Content-Security-Policy` and `Cache-Control`, but not the others."""

JSON = "application/json"
_REPLACEABLE = frozenset(("content-security-policy", "cache-control"))
_OF_THE_CONNECTION = frozenset(
    ("connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding", "upgrade")
)
_FIXED = frozenset(name.lower() for name in SECURITY_HEADERS) - _REPLACEABLE
_WITHOUT_BODY = frozenset((HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED))
_STATUSES = frozenset(HTTPStatus)
_LARGE_BYTES = 64 * 1024
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HTTP_1_1 = (1, 1)


def head_bytes(status: int, content_type: str, extra: Mapping[str, str] | None = None) -> bytes:
    """Return the status line and the headers that are the same in each such response, without the final empty line.

    Raises:
        ValueError: A header contains a control character.
    """
    return _head_bytes(status, content_type, tuple(extra.items()) if extra else ())


@lru_cache(maxsize=256)
def _head_bytes(status: int, content_type: str, extra: tuple[tuple[str, str], ...]) -> bytes:
    headers = dict(SECURITY_HEADERS)
    for name, value in extra:
        lowered = name.lower()
        if lowered in _REPLACEABLE:
            headers = {key: own for key, own in headers.items() if key.lower() != lowered}
        if lowered not in _FIXED and lowered not in _OF_THE_CONNECTION:
            headers[name] = value
    if content_type:
        headers["Content-Type"] = content_type
    phrase = HTTPStatus(status).phrase if status in _STATUSES else "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    if any(map(_CONTROLS.search, lines)):
        raise ValueError("a header holds a control character")
    return ("\r\n".join(lines) + "\r\n").encode("utf-8", "backslashreplace")


class Answer:
    """A complete response.

    Args:
        body: The bytes to send.
        status: HTTP status.
        content_type: Media type of the body.
        headers: Further headers.
        closes: True if the connection is closed afterwards.
        length: Content length of the corresponding GET, for a response to HEAD without the body.
    """

    __slots__ = ("_head", "body", "closes", "keep_alive", "length", "status")

    def __init__(
        self,
        body: bytes = b"",
        status: int = 200,
        content_type: str = JSON,
        headers: Mapping[str, str] | None = None,
        *,
        closes: bool = False,
        length: int | None = None,
    ) -> None:
        self.body = body
        self.status = status
        self.closes = closes
        self.length = len(body) if length is None else length
        self.keep_alive = not closes
        self._head = _JSON_OK if headers is None and status == HTTPStatus.OK and content_type == JSON else None
        if self._head is None:
            self._head = head_bytes(status, content_type, headers)

    async def prepare(self, request: web.BaseRequest) -> None:
        """Send the response, once the client has read enough of the earlier ones.

        Raises:
            ConnectionError: The client has gone.
        """
        self.keep_alive = not self.closes and request.keep_alive
        unread = request.get(UNREAD_ANSWERS)
        if unread is None or unread.has_room:
            self._write(request)
        else:
            async with room_for_answer(request):
                self._write(request)
        if len(self.body) >= _LARGE_BYTES:
            await request.writer.drain()

    def _write(self, request: web.BaseRequest) -> None:
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client has gone")
        head = self.raw_head(is_http_1_0=request.version < _HTTP_1_1)
        if request.method == "HEAD":
            transport.write(head)
        elif len(self.body) < _LARGE_BYTES:
            transport.write(head + self.body)
        else:
            transport.write(head)
            transport.write(self.body)

    async def write_eof(self) -> None:
        """Do nothing: everything has been sent."""

    def add_head(self, lines: bytes) -> None:
        """Add header lines, each with its line end."""
        assert self._head is not None  # noqa: S101 - set by the constructor
        self._head += lines

    def raw_head(self, *, is_http_1_0: bool = False) -> bytes:
        """Return the status line and all headers, for the current `keep_alive`."""
        assert self._head is not None  # noqa: S101 - set by the constructor
        if not self.keep_alive:
            ending = b"Connection: close\r\n\r\n"
        else:
            ending = b"Connection: keep-alive\r\n\r\n" if is_http_1_0 else b"\r\n"
        if self.status in _WITHOUT_BODY:
            return b"%bDate: %b\r\n%b" % (self._head, _current_date(), ending)
        return b"%bDate: %b\r\nContent-Length: %d\r\n%b" % (self._head, _current_date(), self.length, ending)


class LateAnswer(Answer):
    """A response whose body is created only when it can be sent.

    Args:
        make_body: Returns the body, as JSON text.
        status: HTTP status.
        headers: Further headers.
    """

    __slots__ = ("_make_body",)

    def __init__(
        self, make_body: Callable[[], bytes], status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(b"", status, JSON, headers)
        self._make_body = make_body

    def _write(self, request: web.BaseRequest) -> None:
        self.body = self._make_body()
        self.length = len(self.body)
        super()._write(request)


class Sent:
    """Represents a response that a handler has sent itself; the connection is closed unless `keep_alive` is set."""

    __slots__ = ("keep_alive",)

    def __init__(self, *, keep_alive: bool = False) -> None:
        self.keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """Do nothing: everything has been sent."""

    async def write_eof(self) -> None:
        """Do nothing: everything has been sent."""


@lru_cache(maxsize=1)
def _format_date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode("ascii")


def _current_date() -> bytes:
    return _format_date(int(time.time()))


_JSON_OK = head_bytes(HTTPStatus.OK, JSON)
