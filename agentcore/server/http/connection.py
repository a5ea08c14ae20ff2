"""Connections with what aiohttp lacks: a time limit for headers, a maximum number, and errors as JSON."""

import asyncio
import re
import sys
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any, TypeVar, cast

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.streams import StreamReader

from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import Hits, TimeLimits
from agentcore.server.http.unread_answers import UnreadAnswers

T = TypeVar("T")

_HEAD_BYTES = 10 * 1024
"""Bytes at the start of a request that are stored until its headers are read: more than the request line may have."""

_COOKIES = re.compile(rb"\r\ncookie *:", re.IGNORECASE)
_WANTS_DOCUMENT = re.compile(rb"\r\n(accept *:[^\r\n]*text/html|sec-fetch-dest *: *(document|iframe))", re.IGNORECASE)


class Connection(web.RequestHandler):
    """One connection of a client.

    A client that sends headers too slowly is refused with `request_timeout`, malformed HTTP with `invalid_request`.

    Attributes:
        on_drained: Called when most of the bytes that waited to be sent have been sent.
        on_lost: Called when the connection has ended.
        end_stream: Ends the stream on this connection in an orderly way; None: there is none that can be ended.
    """

    __slots__ = (
        "_cookie_help",
        "_head",
        "_hits",
        "_is_faulty",
        "_is_lost",
        "_is_refused",
        "_limits",
        "_newest_body",
        "_timer",
        "_unread",
        "end_stream",
        "on_drained",
        "on_lost",
    )

    def __init__(
        self,
        manager: "ConnectionFactory",
        limits: TimeLimits,
        hits: Hits,
        loop: asyncio.AbstractEventLoop,
        cookie_help: Callable[[], Answer],
    ) -> None:
        super().__init__(
            manager,
            loop=loop,
            keepalive_timeout=limits.idle,
            lingering_time=limits.linger,
            auto_decompress=False,  # no decompression bombs; the reader refuses compressed bodies
            access_log=None,  # type: ignore[arg-type]  # None is what turns it off
        )
        self._limits = limits
        self._hits = hits
        self._cookie_help = cookie_help
        self._head = b""
        self._timer: asyncio.TimerHandle | None = None
        self._newest_body: StreamReader | None = None
        self._is_refused = False
        self._is_faulty = False
        self._is_lost: asyncio.Future[None] | None = None
        self._unread: UnreadAnswers | None = None
        self.on_drained: Callable[[], None] | None = None
        self.on_lost: Callable[[], None] | None = None
        self.end_stream: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, or refuse it if too many are open."""
        manager = self._manager
        if isinstance(manager, ConnectionFactory) and manager.is_full and isinstance(transport, asyncio.Transport):
            self._is_refused = self._force_close = True
            self._hits.add("connections")
            refusal = Refusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too_many_connections",
                f"{manager.limit} connections are open; close some, or try again later",
                retryable=True,
                closes=True,
                limit=manager.limit,
            )
            transport.write(_encode_answer(refusal.to_answer()))
            transport.close()
            return
        super().connection_made(transport)
        if sys.version_info < (3, 12):
            self._loop = cast(asyncio.AbstractEventLoop, _InlineLoop(self._loop))
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes; headers that have started must be complete in time."""
        if not data:  # aiohttp continues with the bytes that it has buffered
            super().data_received(data)
            return
        if self._is_faulty:  # the rest of what could not be parsed
            return
        requests = self._request_count
        newest = self._newest_body
        is_between_requests = newest is None or newest.is_eof()
        if is_between_requests:
            self._head = (data if self._timer is None else self._head + data)[:_HEAD_BYTES]
        super().data_received(data)
        if self._request_count != requests:
            if newest is not None and not newest.is_eof():
                # the "request" is a parser error inside a body: the body's reader need not wait for more
                newest.set_exception(web.RequestPayloadError("the body is malformed"))
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._messages:
                newest_message, self._newest_body = self._messages[-1]
                self._is_faulty = not hasattr(newest_message, "headers")
                if not self._is_faulty:  # the response to an error depends on these bytes
                    self._head = b""
        elif is_between_requests and self._timer is None and not self._upgraded:
            self._expect_headers()

    def count_unread(self, unread: UnreadAnswers) -> None:
        """Count unread bytes on this connection among the responses to a client."""
        if self._unread is unread:
            return
        if self._unread is not None:
            self._unread.remove_behind(self)
        self._unread = unread
        if self.writing_paused:
            unread.add_behind(self)

    def pause_writing(self) -> None:
        """Count this connection's unread bytes from now on."""
        super().pause_writing()
        if self._unread is not None:
            self._unread.add_behind(self)

    def resume_writing(self) -> None:
        """Notify the writer that there is room again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.remove_behind(self)
        if self.on_drained is not None:
            self.on_drained()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Notify the writer that the client has gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_lost is not None and not self._is_lost.done():
            self._is_lost.set_result(None)
        if self._is_refused:
            return
        super().connection_lost(exc)
        if self._unread is not None:
            self._unread.remove_behind(self)
        if self.on_lost is not None:
            self.on_lost()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> Any:
        """Return the response to malformed HTTP. The application handles all other errors itself."""
        self._hits.add("invalid_request")
        if isinstance(exc, LineTooLong):
            return _LastAnswer(self._headers_too_large(), self._read_rest)
        said = (message or "").partition("\n")[0].strip().rstrip(":")[:200]
        return Refusal(
            HTTPStatus.BAD_REQUEST, "invalid_request", f"this is not valid HTTP: {said}", closes=True
        ).to_answer()

    def _headers_too_large(self) -> Answer:
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        limit_bytes = self.max_field_size
        if not _COOKIES.search(self._head):
            message = f"the request line and each header may have {limit_bytes:,} bytes"
            return Refusal(status, "headers_too_large", message, closes=True).to_answer()
        if _WANTS_DOCUMENT.search(self._head):
            return self._cookie_help()
        message = (
            f"the cookies for this address are larger than {limit_bytes:,} bytes; another local server set them: "
            "delete the cookies of this address in the browser, and log in again"
        )
        return Refusal(status, "cookies_too_large", message, closes=True).to_answer()

    async def _read_rest(self) -> None:
        """Discard what the client still sends, for a while.

        Closing the connection before that would reset it, and the response could be lost.
        """
        transport = self.transport
        if not isinstance(transport, asyncio.Transport) or transport.is_closing():
            return
        if transport.can_write_eof():
            transport.write_eof()
        self._is_lost = self._loop.create_future()
        await asyncio.wait((self._is_lost,), timeout=self._limits.linger)

    def _expect_headers(self) -> None:
        self._timer = self._loop.call_later(self._limits.headers, self._headers_late)

    def _headers_late(self) -> None:
        self._timer = None
        if self._request_in_progress:  # a response is being sent: another one must not be written into it
            self._expect_headers()
            return
        self._hits.add("header_timeout")
        if self.transport is not None:
            refusal = Refusal(
                HTTPStatus.REQUEST_TIMEOUT,
                "request_timeout",
                f"the headers were not complete within {self._limits.headers:g} s",
                retryable=True,
                closes=True,
            )
            self.transport.write(_encode_answer(refusal.to_answer()))
        self.force_close()


class _LastAnswer:
    """The last response on a connection, after which the rest of what the client sends is read.

    Args:
        answer: The response. This class has the same interface towards aiohttp.
        read_rest: Returns when the connection may be closed.
    """

    __slots__ = ("_answer", "_read_rest", "keep_alive", "status")

    def __init__(self, answer: Answer, read_rest: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._answer = answer
        self._read_rest = read_rest
        self.keep_alive = False
        self.status = answer.status

    async def prepare(self, request: web.BaseRequest) -> None:
        """Send the response."""
        await self._answer.prepare(request)

    async def write_eof(self) -> None:
        """Wait until the client has stopped sending, up to the limit."""
        await self._read_rest()


class _InlineLoop:
    """The event loop, except that `create_task` returns the coroutine, so that the caller awaits it in its own task.

    aiohttp answers each request in a new task, which costs two iterations of the event loop, a sixth of a small call.
    It does so to hide context variables set by one request from the next; in agentcore, code that sets some runs in a
    task of the core. From Python 3.12 on, aiohttp starts these tasks eagerly, which makes them almost free.
    """

    __slots__ = ("_loop", "call_at", "call_later", "call_soon", "create_future", "time")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.call_at = loop.call_at
        self.call_later = loop.call_later
        self.call_soon = loop.call_soon
        self.create_future = loop.create_future
        self.time = loop.time

    def create_task(self, coro: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return coro

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


class ConnectionFactory(web.Server):
    """Creates connections and counts them.

    Args:
        handler: Answers requests.
        limit: Maximum number of open connections.
        cookie_help: Creates the document for a browser whose cookies are too large.
    """

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Any],
        *,
        limit: int,
        limits: TimeLimits,
        hits: Hits,
        cookie_help: Callable[[], Answer],
    ) -> None:
        super().__init__(handler)
        self.limit = limit
        self._limits = limits
        self._hits = hits
        self._cookie_help = cookie_help

    @property
    def is_full(self) -> bool:
        """True if the maximum number of connections is open."""
        return len(self._connections) >= self.limit

    @property
    def open_connections(self) -> int:
        """Number of open connections."""
        return len(self._connections)

    def __call__(self) -> Connection:
        """Create the connection for a client that was accepted."""
        return Connection(self, self._limits, self._hits, self._loop, self._cookie_help)


def _encode_answer(answer: Answer) -> bytes:
    return answer.raw_head() + answer.body
