"""The broker between tool calls and open pages: who is active, what each page is to do, what came back."""

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
"""A page that has not been heard of for longer, which is longer than one long poll, is not active."""

QUEUE_COMMANDS = 500
"""Commands that wait for one page."""

CLIENTS = 256
"""Pages that are remembered; beyond, those that were not heard of for the longest time are forgotten."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing for a page to do.

    Args:
        command_id: Never used twice.
        type: What kind of thing.
        args: Its arguments, JSON values.
        timeout_ms: Until when the page should have answered, in milliseconds from now on.
    """

    command_id: str
    type: CommandType
    args: Mapping[str, Any]
    timeout_ms: int

    def to_json(self) -> dict[str, Any]:
        """The command on the wire."""
        return {"commandId": self.command_id, "type": self.type, "args": self.args, "timeoutMs": self.timeout_ms}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page said of a command.

    Args:
        page_id: The page that acted.
        result: A JSON value; of a failure None.
        error: Message and stack of what was thrown there; None: it went well.
    """

    page_id: str
    result: Any = None
    error: Mapping[str, Any] | None = None


Deliver = Callable[[Command], None]
"""Takes a command to a page; never waits and never fails."""


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
    """Keeps the pages that ask for commands, and the commands that wait for an answer. In memory only.

    A page has one command at a time; the next is handed to it when it has answered.

    Args:
        clock: Seconds that only go forward.
        idle_s: After so long without a word a page is not active.
        queue_limit: Commands that wait for one page.
    Attributes:
        counts: How often something was dropped or refused: `late`, `unknown`, `foreign`, `queue_full`, `abandoned`.
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
        """The page that asked last, if one is there."""
        client = self._find_active()
        return None if client is None else client.page_id

    def list_pages(self) -> list[dict[str, Any]]:
        """Remembered pages, the one that was heard of last first, as `{resourceId, isActive, isThere, seenSeconds}`."""
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
        """Have a page do something, and give the command's id.

        Args:
            command_type: What kind of thing.
            args: Its arguments.
            timeout_ms: How long the page may take.
            page_id: The page that has to do it; None: the active one.
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
        """What the page said; afterwards the command is forgotten, and what still comes is dropped.

        Raises:
            ToolError: `ui_timeout`, `ui_client_not_connected` (the page went away meanwhile).
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
        """Notice that a page asks for commands: it is the active one now.

        A page that asks while it holds a command has lost that one (it was reloaded): its call ends.

        Raises:
            ToolError: `forbidden`: the id was made by another browser session.
        """
        client = self._find_client(client_id, page_session) or self._add_client(client_id, page_session)
        client.last_seen = self._clock()
        client.last_poll = next(self._polls)
        client.has_left = False
        if client.running is not None and client.deliver is None:
            self._fail_command(client.running, "was reloaded")
            client.running = None

    async def next_command(self, client_id: str, page_session: str, timeout_s: float) -> Command | None:
        """The next command of a page that polls; None when the time is over.

        Raises:
            ToolError: `forbidden`.
        """
        self.record_poll(client_id, page_session)
        client = self._clients[client_id]
        arrived: asyncio.Future[Command] = asyncio.get_running_loop().create_future()

        def deliver(command: Command) -> None:
            client.deliver = None
            arrived.set_result(command)

        client.deliver = deliver  # an older poll of the same page gets nothing any more
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
        """Take a page that listens on a socket; what an older socket of the page held is lost.

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
        """Notice that a page's socket is closed: it is not active, and what it held ends with an error."""
        client = self._clients.get(client_id)
        if client is None or client.deliver is not deliver:
            return
        client.deliver = None
        client.has_left = True
        self._fail_all(client, "was closed or reloaded")

    def record_activity(self, client_id: str) -> None:
        """Notice a sign of life that is no wish for commands."""
        client = self._clients.get(client_id)
        if client is not None:
            client.last_seen = self._clock()

    def resolve_result(self, client_id: str, page_session: str, command_id: str, answer: Mapping[str, Any]) -> bool:
        """Take what a page says of a command; what comes late or twice, or that nobody asked for, is dropped.

        Args:
            client_id: The page that says it.
            page_session: The browser session that it belongs to.
            command_id: The command.
            answer: `{"ok": true, "result"}` or `{"ok": false, "error": {"message", "stack"?}}`.
        Returns:
            Whether it was used.
        Raises:
            ToolError: `forbidden`: the page, or the command, is another's.
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
        """End whatever waits."""
        for client in list(self._clients.values()):
            client.deliver = None
            self._fail_all(client, "is not served any more")
        self._clients.clear()

    # -- inside ------------------------------------------------------------------------------------------------

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
        """Hand a page its next command, if it is ready for one."""
        while client.queue and client.running is None and client.deliver is not None:
            command = client.queue.popleft()
            if command.command_id in self._pending:  # else nobody waits for it any more
                client.running = command
                client.deliver(command)

    def _remove_command(self, command_id: str) -> None:
        pending = self._pending.pop(command_id, None)
        if pending is None:
            return
        client = pending.client
        client.queue = deque(command for command in client.queue if command.command_id != command_id)
        if client.running is not None and client.running.command_id == command_id:
            client.running = None  # the page may still be at it; what it says is late, and the next one waits there
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
    """The error for calls that find no page."""
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
