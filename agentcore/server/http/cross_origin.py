"""The response headers without which a browser does not pass a response to an extension (CORS).

A request is marked once; every response to it, complete or streamed, error or not, adds the headers from this module.
Source: https://fetch.spec.whatwg.org/#http-cors-protocol
"""

from http import HTTPStatus
from typing import TypeVar

from aiohttp import hdrs, web
from multidict import istr

from agentcore.server.http.response import Answer

R = TypeVar("R")

_HEAD = web.RequestKey("cross_origin_head", bytes)
_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_HEADERS = "Authorization, Content-Type, Accept, Last-Event-ID, Range"
_EXPOSED = "Allow, Content-Disposition, Content-Length, Content-Range, ETag, Retry-After"
_MAX_AGE_SECONDS = 7200  # the maximum in Chromium
_PRIVATE_NETWORK = istr("Access-Control-Request-Private-Network")


def allow_cross_origin(request: web.BaseRequest, origin: str) -> None:
    """Allow code of one origin to read the response. Browser credentials stay excluded: none would count."""
    lines = {
        hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: origin,
        hdrs.VARY: hdrs.ORIGIN,
        hdrs.ACCESS_CONTROL_EXPOSE_HEADERS: _EXPOSED,
    }
    request[_HEAD] = "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode("ascii")


def cross_origin_head(request: web.BaseRequest) -> bytes:
    """Return the header lines to add to the response to a request."""
    head: bytes = request.get(_HEAD, b"")
    return head


def add_cross_origin_head(request: web.BaseRequest, reply: R) -> R:
    """Add these lines to a response; a stream has already sent them."""
    if isinstance(reply, Answer):
        reply.add_head(cross_origin_head(request))
    return reply


def answer_preflight(request: web.BaseRequest) -> Answer:
    """Answer a browser's preflight request; the request that follows is checked on its own."""
    headers: dict[str, str] = {
        hdrs.ACCESS_CONTROL_ALLOW_METHODS: _METHODS,
        hdrs.ACCESS_CONTROL_ALLOW_HEADERS: _HEADERS,
        hdrs.ACCESS_CONTROL_MAX_AGE: str(_MAX_AGE_SECONDS),
    }
    if _PRIVATE_NETWORK in request.headers:  # https://wicg.github.io/private-network-access/
        headers["Access-Control-Allow-Private-Network"] = "true"
    return Answer(b"", HTTPStatus.NO_CONTENT, "", headers)
