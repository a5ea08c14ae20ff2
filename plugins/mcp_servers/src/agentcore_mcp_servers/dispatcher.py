"""`LineDispatcher`: exchanges messages with a server, one per line, for the SDK's session.

It replaces the SDK's own dispatcher, which passes each message through two streams and a task: a call costs half as
much. See the SDK's `Dispatcher` for the contract.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import mcp_types as types
import structlog
from mcp.shared.dispatcher import (
    CallOptions,
    Dispatcher,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    ProgressFnT,
    coerce_request_id,
    run_notify_intercept,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params, handler_exception_to_error_data
from mcp.shared.transport_context import TransportContext

from agentcore.api import Background
from agentcore_mcp_servers.answer_repair import repair_answer
from agentcore_mcp_servers.messages import Junk, Message, MessageLines

log = structlog.get_logger(__name__)

_REQUESTS = 32
"""Maximum number of a server's requests that are handled concurrently; they may wait for the user."""
_NEWS = 1_000
"""Maximum number of queued notifications of a server; further ones are dropped."""

_NEWS_BYTES = 16 * 1024 * 1024
"""Maximum size of the queued notifications as JSON text: the limit of one message."""

Result = dict[str, Any]


@dataclass(slots=True)
class _Asked:
    """A pending request to the server."""

    answer: "asyncio.Future[Result]"
    on_progress: ProgressFnT | None


@dataclass(slots=True)
class _Inbound:
    """The context of a request or notification from the server. Implements the SDK's `DispatchContext`."""

    dispatcher: "LineDispatcher"
    request_id: types.RequestId | None = None
    transport: TransportContext = field(default_factory=lambda: TransportContext(kind="stdio", can_send_request=True))
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    message_metadata: None = None
    can_send_request: bool = True

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Result:
        """Send a request to the server while its own one is handled."""
        return await self.dispatcher.send_raw_request(method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification to the server."""
        await self.dispatcher.notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Do nothing: servers do not ask for the progress of their requests."""


class LineDispatcher(Dispatcher[TransportContext]):
    """One connection to a server.

    Args:
        write: Writes a line to the server, waiting while its pipe is full. Raises OSError when the server has ended.
        report: Called with a description of each invalid message that is dropped.
    """

    def __init__(self, write: Callable[[bytes], Awaitable[None]], report: Callable[[str], None]) -> None:
        self._write = write
        self._report = report
        self._lines = MessageLines()
        self._last_id = 0
        self._asked: dict[types.RequestId, _Asked] = {}
        self._worked_on: dict[types.RequestId, asyncio.Task[None]] = {}
        self._news: deque[tuple[Callable[[], Awaitable[None]], int]] = deque()
        self._news_bytes = 0
        self._is_told = asyncio.Event()
        self._background = Background("mcp_servers:requests")
        self._is_over = asyncio.Event()
        self._handlers: tuple[OnRequest, OnNotify, OnNotifyIntercept | None] | None = None

    # -- input from the pipe -----------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        """Process bytes that the server wrote."""
        for message, size in self._lines.feed(data):
            if isinstance(message, Junk):
                self._report(f"it wrote to its output what is no message: {message!r}")
            else:
                self._dispatch_message(message, size)

    def mark_closed(self) -> None:
        """Fail all pending requests, because the server has closed its output. Safe to call twice."""
        self._is_over.set()
        for asked in self._asked.values():
            if not asked.answer.done():
                asked.answer.set_exception(_closed_error())
        self._asked.clear()

    # -- requests of the session -------------------------------------------------------------------------------

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Result:
        """Send a request to the server and wait for its response.

        Raises:
            MCPError: If the server returned an error, took longer than `opts["timeout"]`, or ended.
        """
        if self._is_over.is_set():
            raise _closed_error()
        opts = opts or {}
        given = opts.get("request_id")
        ident = self._new_id() if given is None else given
        asked = _Asked(asyncio.get_running_loop().create_future(), opts.get("on_progress"))
        key = coerce_request_id(ident)
        self._asked[key] = asked
        is_sent = False
        try:
            async with asyncio.timeout(opts.get("timeout")):
                await self._send_message(
                    {"jsonrpc": "2.0", "id": ident, "method": method, **_build_params(params, asked, ident)}
                )
                is_sent = True
                return await asked.answer
        except (asyncio.CancelledError, TimeoutError) as exc:
            if is_sent and opts.get("cancel_on_abandon", True):
                self._background.start(self.notify("notifications/cancelled", {"requestId": ident}))
            if isinstance(exc, TimeoutError):
                raise MCPError(types.REQUEST_TIMEOUT, f"Request {method!r} timed out") from None
            raise
        finally:
            self._asked.pop(key, None)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification to the server; ignored if it has ended."""
        message = {"jsonrpc": "2.0", "method": method}
        try:
            await self._send_message(message if params is None else {**message, "params": dict(params)})
        except MCPError:
            log.debug("mcp_not_told", method=method)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Pass requests and notifications of the server to the handlers until it closes its output."""
        self._handlers = (on_request, on_notify, on_notify_intercept)
        self._background.start(self._deliver_queued())
        task_status.started()
        try:
            await self._is_over.wait()
        finally:
            self.mark_closed()
            await self._background.stop()

    # -- messages ----------------------------------------------------------------------------------------------

    def _new_id(self) -> int:
        self._last_id += 1
        while self._last_id in self._asked:
            self._last_id += 1
        return self._last_id

    async def _send_message(self, message: Mapping[str, Any]) -> None:
        try:
            await self._write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except OSError as exc:
            raise _closed_error() from exc

    def _dispatch_message(self, message: Message, size: int) -> None:
        match message:
            case types.JSONRPCResponse():
                repair_answer(message, self._report)
                self._resolve_request(message.id, message.result)
            case types.JSONRPCError():
                error = message.error
                self._resolve_request(message.id, MCPError(error.code, error.message, error.data))
            case types.JSONRPCRequest():
                self._start_request(message, size)
            case types.JSONRPCNotification():
                self._handle_notification(message, size)

    def _resolve_request(self, ident: types.RequestId | None, outcome: Result | MCPError) -> None:
        asked = None if ident is None else self._asked.pop(coerce_request_id(ident), None)
        if asked is None or asked.answer.done():
            log.debug("mcp_answer_to_nothing", id=ident)
        elif isinstance(outcome, MCPError):
            asked.answer.set_exception(outcome)
        else:
            asked.answer.set_result(outcome)

    # -- requests and notifications of the server --------------------------------------------------------------

    def _start_request(self, request: types.JSONRPCRequest, size: int) -> None:
        key = coerce_request_id(request.id)
        if key in self._worked_on:
            self._report(f"it asked twice under the id {request.id!r}; the second is left out")
        elif len(self._worked_on) >= _REQUESTS:
            message = f"{_REQUESTS} requests are being worked on; ask again when one has its answer"
            refusal = types.ErrorData(code=types.INTERNAL_ERROR, message=message)
            self._enqueue(lambda: self._send_error(request.id, refusal), size)
        elif self._handlers is not None:
            task = self._background.start(self._answer_request(request, self._handlers[0]))
            self._worked_on[key] = task
            task.add_done_callback(lambda _: self._worked_on.pop(key, None))

    async def _answer_request(self, request: types.JSONRPCRequest, on_request: OnRequest) -> None:
        try:
            result = await on_request(_Inbound(self, request.id), request.method, request.params)
        except Exception as exc:
            error = handler_exception_to_error_data(exc)
            if error is None:
                log.exception("mcp_request_failed", method=request.method)
                error = types.ErrorData(code=types.INTERNAL_ERROR, message="the request could not be worked on")
            await self._send_error(request.id, error)
            return
        await self._send_reply({"jsonrpc": "2.0", "id": request.id, "result": result})

    async def _send_error(self, ident: types.RequestId, error: types.ErrorData) -> None:
        said = error.model_dump(mode="json", exclude_none=True)
        await self._send_reply({"jsonrpc": "2.0", "id": ident, "error": said})

    async def _send_reply(self, message: Mapping[str, Any]) -> None:
        try:
            await self._send_message(message)
        except MCPError:
            log.debug("mcp_answer_not_sent", id=message["id"])

    def _handle_notification(self, told: types.JSONRPCNotification, size: int) -> None:
        if self._handlers is None:
            return  # before the session runs there are no requests that a notification could refer to
        _, on_notify, intercept = self._handlers
        params = told.params
        if told.method == "notifications/progress" and params is not None:
            self._handle_progress(params, size)
        elif told.method == "notifications/cancelled":
            ident = cancelled_request_id_from_params(params)
            task = None if ident is None else self._worked_on.get(coerce_request_id(ident))
            if task is not None:
                task.cancel()
        if not run_notify_intercept(intercept, told.method, params):
            self._enqueue(lambda: on_notify(_Inbound(self), told.method, params), size)

    def _handle_progress(self, params: Mapping[str, Any], size: int) -> None:
        match params:
            case {"progressToken": str() | int() as token, "progress": int() | float() as done}:
                asked = self._asked.get(coerce_request_id(token))
                if asked is not None and (on_progress := asked.on_progress) is not None:
                    total = params.get("total")
                    said = params.get("message")
                    of = float(total) if isinstance(total, int | float) else None
                    message = said if isinstance(said, str) else None
                    self._enqueue(lambda: on_progress(float(done), of, message), size)

    def _enqueue(self, work: Callable[[], Awaitable[None]], size: int) -> None:
        """Queue a delivery after all earlier ones; dropped if the queue is full.

        Args:
            work: Delivers the message.
            size: Size of the message in bytes, as it was read.
        """
        if len(self._news) < _NEWS and self._news_bytes + size <= _NEWS_BYTES:
            self._news.append((work, size))
            self._news_bytes += size
            self._is_told.set()
        else:
            self._report(
                f"it told more than {_NEWS:,} things, or {_NEWS_BYTES:,} bytes, at once; what came then is left out"
            )

    async def _deliver_queued(self) -> None:
        while True:
            await self._is_told.wait()
            self._is_told.clear()
            while self._news:
                work, size = self._news.popleft()
                try:
                    await work()
                except Exception:
                    log.exception("mcp_news_failed")
                finally:
                    self._news_bytes -= size


def _build_params(params: Mapping[str, Any] | None, asked: _Asked, ident: types.RequestId) -> Result:
    out = dict(params or {})
    if asked.on_progress is not None:
        out["_meta"] = {**(out.get("_meta") or {}), "progressToken": ident}
    return {"params": out} if out else {}


def _closed_error() -> MCPError:
    return MCPError(types.CONNECTION_CLOSED, "Connection closed")
