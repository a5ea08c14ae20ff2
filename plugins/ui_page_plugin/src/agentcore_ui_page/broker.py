"""`Broker`: forwards commands of tool calls to open pages, and the pages' answers back."""

import asyncio
import itertools
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentcore.api import ToolError

CommandType = Literal["eval_js", "get_content", "dom_patch"]

IDLE_SECONDS = 35.0
"""A page that has sent nothing for this long is not active; it is longer than one long poll."""

QUEUE_COMMANDS = 500
"""Maximum number of queued commands per page."""

CLIENTS = 256
"""Maximum number of remembered pages; beyond it, the one that was silent longest is dropped."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command for a page.

    Args:
        command_id: A unique id.
        type: The type of command.
        args: Its arguments, JSON values.
        timeout_ms: How long the page may take to answer, in milliseconds.
    """

    command_id: str
    type: CommandType
    args: Mapping[str, Any]
    timeout_ms: int

    def to_json(self) -> dict[str, Any]:
        """Return the command as it is sent to the page."""
        return {"commandId": self.command_id, "type": self.type, "args": self.args, "timeoutMs": self.timeout_ms}


@dataclass(frozen=True, slots=True)
class Answer:
    """A page's answer to a command.

    Args:
        page_id: The page that ran the command.
        result: A JSON value; None if the command failed.
        error: Message and stack of the exception; None if the command succeeded.
    """

    page_id: str
    result: Any = None
    error: Mapping[str, Any] | None = None


Deliver = Callable[[Command], None]
"""Queues a command for a page; never blocks and never fails."""


@dataclass(slots=True)
class _Client:
    client_id: str
    page_session: str
    page_id: str
    last_seen: float
    last_poll: int
    queue: deque[Command] = field(default_factory=deque)
    running: Command | None = None
    deliver: Deliver | None = None
    has_left: bool = False


@dataclass(slots=True)
class _Pending:
    client: _Client
    answer: asyncio.Future[Answer]


class Broker:
    """Tracks the connected pages and the pending commands, in memory only.

    A page has one command at a time; the next is delivered when it has answered.

    Args:
        clock: A monotonic clock in seconds.
        idle_s: A page that has sent nothing for this long is not active.
        queue_limit: Maximum number of queued commands per page.
    Attributes:
        counts: Numbers of dropped and refused messages: `late`, `unknown`, `foreign`, `queue_full`, `abandoned`.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        idle_s: float = IDLE_SECONDS,
        queue_limit: int = QUEUE_COMMANDS,
    ) -> None:
        self._clock = clock
        self._idle_s = idle_s
        self._queue_limit = queue_limit
        self._clients: OrderedDict[str, _Client] = OrderedDict()
        self._pending: dict[str, _Pending] = {}
        self._polls = itertools.count(1)
        self._pages = itertools.count()
        self.counts: Counter[str] = Counter()

    # -- for tools ---------------------------------------------------------------------------------------------

    @property
    def active(self) -> str | None:
        """The id of the connected page that last requested commands; None if no page is connected."""
        client = self._find_active()
        return None if client is None else client.page_id

    def list_pages(self) -> list[dict[str, Any]]:
        """Return remembered pages as `{resourceId, isActive, isThere, seenSeconds}`, most recently seen first."""
        active = self._find_active()
        now = self._clock()
        return [
            {
                "resourceId": client.page_id,
                "isActive": client is active,
                "isThere": self._is_there(client),
                "seenSeconds": now - client.last_seen,
            }
            for client in sorted(self._clients.values(), key=lambda client: -client.last_seen)
        ]

    def enqueue_to_active(
        self, command_type: CommandType, args: Mapping[str, Any], timeout_ms: int, *, page_id: str | None = None
    ) -> str:
        """Queue a command for a page, and return the command's id.

        Args:
            command_type: The type of command.
            args: Its arguments.
            timeout_ms: How long the page may take, in milliseconds.
            page_id: The page that should run it; None for the active one.
        Raises:
            ToolError: `ui_client_not_connected`, `ui_queue_full`.
        """
        client = self._find_active() if page_id is None else self._find_page(page_id)
        if client is None:
            raise not_connected(page_id)
        if len(client.queue) >= self._queue_limit:
            self.counts["queue_full"] += 1
            raise ToolError(
                "ui_queue_full",
                f"{self._queue_limit} commands wait for the page already; wait until some are done",
                retryable=True,
                limit=self._queue_limit,
            )
        command = Command(f"cmd_{secrets.token_hex(8)}", command_type, args, timeout_ms)
        self._pending[command.command_id] = _Pending(client, asyncio.get_running_loop().create_future())
        client.queue.append(command)
        self._deliver_next(client)
        return command.command_id

    async def await_result(self, command_id: str, timeout_s: float) -> Answer:
        """Wait for the page's answer, then remove the command; later answers are dropped.

        Raises:
            ToolError: `ui_timeout`; `ui_client_not_connected` if the page disconnected before it answered.
        """
        pending = self._pending[command_id]
        try:
            async with asyncio.timeout(timeout_s):
                return await pending.answer
        except TimeoutError:
            self.counts["abandoned"] += 1
            message = f"the page did not answer within {timeout_s:g} s; it may be busy, or the script never ends"
            raise ToolError(
                "ui_timeout",
                message,
                retryable=True,
                timeoutMs=round(timeout_s * 1000),
                resourceId=pending.client.page_id,
            ) from None
        finally:
            self._remove_command(command_id)

    # -- for pages ---------------------------------------------------------------------------------------------

    def record_poll(self, client_id: str, page_session: str) -> None:
        """Record that a page requests commands, which makes it the active one.

        A page that requests commands while one is running has lost that one, because it was reloaded; its call fails.

        Raises:
            ToolError: `forbidden` if the client id belongs to another browser session.
        """
        client = self._find_client(client_id, page_session) or self._add_client(client_id, page_session)
        client.last_seen = self._clock()
        client.last_poll = next(self._polls)
        client.has_left = False
        if client.running is not None and client.deliver is None:
            self._fail_command(client.running, "was reloaded")
            client.running = None

    async def next_command(self, client_id: str, page_session: str, timeout_s: float) -> Command | None:
        """Wait for the next command for a polling page; None on timeout.

        Raises:
            ToolError: `forbidden`.
        """
        self.record_poll(client_id, page_session)
        client = self._clients[client_id]
        arrived: asyncio.Future[Command] = asyncio.get_running_loop().create_future()

        def deliver(command: Command) -> None:
            client.deliver = None
            arrived.set_result(command)

        client.deliver = deliver  # replaces an older poll of the same page, which gets no command any more
        self._deliver_next(client)
        try:
            return await asyncio.wait_for(arrived, timeout_s)
        except TimeoutError:
            return None
        finally:
            client.last_seen = self._clock()
            if client.deliver is deliver:
                client.deliver = None

    def connect_page(self, client_id: str, page_session: str, deliver: Deliver) -> None:
        """Connect a page by WebSocket; a command that runs on an older connection of the page fails.

        Raises:
            ToolError: `forbidden`.
        """
        self.record_poll(client_id, page_session)
        client = self._clients[client_id]
        if client.running is not None:
            self._fail_command(client.running, "was reloaded")
            client.running = None
        client.deliver = deliver
        self._deliver_next(client)

    def disconnect_page(self, client_id: str, deliver: Deliver) -> None:
        """Record that a page's WebSocket was closed: the page is not active, and its commands fail."""
        client = self._clients.get(client_id)
        if client is None or client.deliver is not deliver:
            return
        client.deliver = None
        client.has_left = True
        self._fail_all(client, "was closed or reloaded")

    def record_activity(self, client_id: str) -> None:
        """Record that a page is alive, without making it the active one."""
        client = self._clients.get(client_id)
        if client is not None:
            client.last_seen = self._clock()

    def resolve_result(self, client_id: str, page_session: str, command_id: str, answer: Mapping[str, Any]) -> bool:
        """Set the result of a command; late, duplicate and unknown answers are dropped.

        Args:
            client_id: The page that answers.
            page_session: The browser session that it belongs to.
            command_id: The command.
            answer: `{"ok": true, "result"}` or `{"ok": false, "error": {"message", "stack"?}}`.
        Returns:
            True if the answer was used.
        Raises:
            ToolError: `forbidden` if the page belongs to another session, or the command to another page.
        """
        client = self._find_client(client_id, page_session)
        pending = self._pending.get(command_id)
        if pending is not None and pending.client is not client:
            self.counts["foreign"] += 1
            raise ToolError("forbidden", f"command {command_id!r} was given to another page", commandId=command_id)
        if client is None:
            self.counts["unknown"] += 1
            return False
        client.last_seen = self._clock()
        if client.running is not None and client.running.command_id == command_id:
            client.running = None
        is_used = pending is not None and not pending.answer.done()
        if pending is not None and is_used:
            error = None if answer["ok"] else answer["error"]
            pending.answer.set_result(Answer(client.page_id, answer.get("result"), error))
        else:
            self.counts["late"] += 1
        self._deliver_next(client)
        return is_used

    def close(self) -> None:
        """Fail all pending commands and drop all pages."""
        for client in list(self._clients.values()):
            client.deliver = None
            self._fail_all(client, "is not served any more")
        self._clients.clear()

    # -- internals ---------------------------------------------------------------------------------------------

    def _find_active(self) -> _Client | None:
        there = [client for client in self._clients.values() if self._is_there(client)]
        return max(there, key=lambda client: client.last_poll, default=None)

    def _find_page(self, page_id: str) -> _Client | None:
        for client in self._clients.values():
            if client.page_id == page_id and self._is_there(client):
                return client
        return None

    def _is_there(self, client: _Client) -> bool:
        return not client.has_left and self._clock() - client.last_seen <= self._idle_s

    def _find_client(self, client_id: str, page_session: str) -> _Client | None:
        client = self._clients.get(client_id)
        if client is not None and client.page_session != page_session:
            self.counts["foreign"] += 1
            raise ToolError("forbidden", "this client id belongs to another browser session; make one of your own")
        return client

    def _add_client(self, client_id: str, page_session: str) -> _Client:
        while len(self._clients) >= CLIENTS:
            oldest = min(self._clients.values(), key=lambda client: client.last_seen)
            self._fail_all(oldest, "was not heard of for too long")
            del self._clients[oldest.client_id]
        client = _Client(client_id, page_session, f"ui_page_{next(self._pages)}", self._clock(), 0)
        self._clients[client_id] = client
        return client

    def _deliver_next(self, client: _Client) -> None:
        """Deliver the next command to a page if it is ready for one."""
        while client.queue and client.running is None and client.deliver is not None:
            command = client.queue.popleft()
            if command.command_id in self._pending:  # otherwise its call has already ended
                client.running = command
                client.deliver(command)

    def _remove_command(self, command_id: str) -> None:
        pending = self._pending.pop(command_id, None)
        if pending is None:
            return
        client = pending.client
        client.queue = deque(command for command in client.queue if command.command_id != command_id)
        if client.running is not None and client.running.command_id == command_id:
            client.running = None  # the page may still run it: its answer will be late, and it queues the next command
            self._deliver_next(client)

    def _fail_all(self, client: _Client, how: str) -> None:
        lost = [client.running, *client.queue] if client.running is not None else list(client.queue)
        client.running = None
        client.queue.clear()
        for command in lost:
            self._fail_command(command, how)

    def _fail_command(self, command: Command, how: str) -> None:
        pending = self._pending.get(command.command_id)
        if pending is None or pending.answer.done():
            return
        message = f"the page {how} before it answered; whether the command had an effect is not known"
        pending.answer.set_exception(
            ToolError("ui_client_not_connected", message, retryable=True, resourceId=pending.client.page_id)
        )


def not_connected(page_id: str | None = None) -> ToolError:
    """Create the error for a call without a connected page."""
    if page_id is not None:
        return ToolError(
            "ui_client_not_connected",
            f"page {page_id!r} is not open any more; leave out resourceId",
            resourceId=page_id,
        )
    return ToolError(
        "ui_client_not_connected",
        "agentcore's page is not open in any browser; ask the person to open it",
        retryable=True,
    )
