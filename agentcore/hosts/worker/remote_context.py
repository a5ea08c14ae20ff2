"""The context of a call in a host: the implementation of `ToolContext` over a link."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.api import Artifacts, ChatSession, LogLevel, Principal, Resource, ToolContext
from agentcore.api.operation import Operation
from agentcore.core.calls.call_reports import read_fraction, read_log, read_message, read_output
from agentcore.core.calls.threaded_context import ThreadedContext
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.hosts.wire.operation_messages import decode_answer, encode_request
from agentcore.hosts.wire.values import principal_of
from agentcore.hosts.worker.operation_requests import with_requests
from agentcore.hosts.worker.server_connection import Line
from agentcore.limits import LOGS_PER_CALL, OUTPUT_KEPT_CHARS, PROGRESS_INTERVAL_SECONDS


@with_requests(ToolContext)
class RemoteContext(ThreadedContext, ToolContext):
    """Implements `agentcore.api.ToolContext` for one call that a server has sent.

    Args:
        message: The server's `tool.call` (or `call.preview`).
        resource: The resource of the call in this host.
    """

    def __init__(self, line: Line, message: Mapping[str, Any], workspace: Workspace, resource: Resource | None) -> None:
        super().__init__()
        self._line = line
        self._message = message
        self._workspace = workspace
        self._resource = resource
        self.number: int = message["n"]
        self.task = asyncio.current_task()
        self._deadline: float = self._loop.time() + message["timeoutMs"] / 1000
        self._is_cut = False
        self._logs = 0
        self._held: dict[str, dict[str, Any]] = {}
        self._next_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def call_id(self) -> str:
        """Id of the call."""
        call_id: str = self._message["call"]
        return call_id

    @property
    def session_id(self) -> str:
        """The session it belongs to."""
        session_id: str = self._message["chatSessionId"]
        return session_id

    @property
    def principal(self) -> Principal:
        """Who made the call."""
        return principal_of(self._message["principal"])

    @property
    def resource(self) -> Resource | None:
        """The resource that the call acts on."""
        return self._resource

    @property
    def deadline(self) -> float:
        """The event loop's time at which the server cuts it off."""
        return self._deadline

    @property
    def workspace(self) -> Workspace:
        """The folders of this host that tools may touch."""
        return self._workspace

    @property
    def artifacts(self) -> Artifacts:
        """The artifacts of the call."""
        return _RemoteArtifacts(self)  # type: ignore[abstract]  # its operations are made from the table

    @property
    def model_chars(self) -> int | None:
        chars: int | None = self._message.get("modelChars")
        return chars

    @property
    def is_cancelled(self) -> bool:
        """True if the call was cancelled or ran out of time."""
        return self._is_cut or self._deadline <= self._loop.time()

    @property
    def left_ms(self) -> int:
        """How much time it has left."""
        return max(int((self._deadline - self._loop.time()) * 1000), 0)

    def end_preview(self) -> None:
        """Note that the preview which this context is for has ended, so that a thread of it stops."""
        self._is_cut = True

    def cancel_call(self) -> None:
        """Mark the call as cancelled by the server."""
        self._is_cut = True
        if self.task is not None:
            self.task.cancel()

    # -- what is reported --------------------------------------------------------------------------------------

    def progress(self, fraction: float | None = None, message: str = "") -> None:
        fraction = read_fraction(fraction)
        message = read_message(message)
        self._run_in_loop(lambda: self._queue_progress("progress", {"fraction": fraction, "message": message}))

    def log(self, message: str, *, level: LogLevel = "info") -> None:
        told = read_log(message, level)
        self._logs += 1
        if self._logs <= LOGS_PER_CALL:  # the server passes on no more
            self._run_in_loop(lambda: self._send_progress("log", {"message": told, "level": level}))

    def show_output(self, text: str) -> None:
        chunk = read_output(text)
        length = len(text)
        self._run_in_loop(lambda: self._add_output(chunk, length))

    def flush_progress(self) -> None:
        """Send pending progress, so that the server has it before the result."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held = self._held
        self._held = {}
        self._next_at = self._loop.time() + PROGRESS_INTERVAL_SECONDS
        for kind, fields in held.items():
            self._send_progress(kind, fields)

    def _queue_progress(self, kind: str, fields: dict[str, Any]) -> None:
        """Tell now, or with what comes meanwhile: the newest counts."""
        self._held[kind] = fields
        if self._loop.time() >= self._next_at:
            self.flush_progress()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next_at, self.flush_progress)

    def _add_output(self, piece: str, length: int) -> None:
        before = self._held.get("output", {"text": "", "length": 0})
        text = (before["text"] + piece)[-OUTPUT_KEPT_CHARS:]
        self._queue_progress("output", {"text": text, "length": before["length"] + length})

    def _send_progress(self, kind: str, fields: dict[str, Any]) -> None:
        self._line.send_message({"type": "tool.progress", "n": self.number, "kind": kind, **fields})

    def _find_call_task(self) -> asyncio.Task[Any] | None:
        return self.task

    # -- what is asked of the server ---------------------------------------------------------------------------

    async def ask_host(
        self, host: str, request: Mapping[str, Any], data: bytes | None = None, *, timeout_s: float = 30
    ) -> tuple[dict[str, Any], bytes | None]:
        """Raise `hosts_not_reachable`: only modules in the server's own process may use it."""
        message = "this module does not run in the server's own process, and can ask no hosts"
        raise ToolError("hosts_not_reachable", message, host=host)

    @property
    def session(self) -> ChatSession:
        session = self._message.get("session")
        if session is None and self._message.get("chatRefused"):
            message = "the user has not allowed this host to use chats; the tool can run on the server instead"
            raise ToolError("host_not_allowed", message)
        if session is None:
            raise ToolError("no_session", "this call does not come from a chat session; make it from a chat")
        return _RemoteSession(self, session["todos"])  # type: ignore[abstract]  # its operations are made from the table

    async def request_operation(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        """Send the server a request on behalf of this call; its clock stops while it waits for the user."""
        fields, data = encode_request(operation, arguments)
        message = {"type": operation.name, "n": self.number, **fields}
        answer = await self._line.request(message, data, is_repeatable=operation.is_repeatable)
        if not operation.is_repeatable:
            self._deadline = self._loop.time() + answer["timeoutMs"] / 1000
            answer = answer["value"]
        return decode_answer(operation, answer, self._line.pop_blob)


@with_requests(Artifacts)
class _RemoteArtifacts(Artifacts):
    """Implements `agentcore.api.Artifacts` for one call: they are stored by the server."""

    def __init__(self, context: RemoteContext) -> None:
        self.request_operation = context.request_operation


@with_requests(ChatSession)
class _RemoteSession(ChatSession):
    """Implements `agentcore.api.ChatSession` for one call."""

    def __init__(self, context: RemoteContext, todos: Sequence[Mapping[str, Any]]) -> None:
        self._context = context
        self._todos = todos

    @property
    def todos(self) -> Sequence[Mapping[str, Any]]:
        return self._todos

    async def replace_with_summary(self, summary: str, *, keep_turns: int) -> int:
        return (await self.compact(summary, keep_turns=keep_turns))[0]

    async def request_operation(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        if operation.function is ChatSession.set_todos:
            self._todos = [dict(each) for each in arguments["todos"]]
        return await self._context.request_operation(operation, arguments)
