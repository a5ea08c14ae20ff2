"""What a client is told while it waits for a call: how far that is, and what it says of its work."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types import RequestId
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentcore.api import LogLevel
from agentcore.mcp.caller import LOG_LEVELS, Caller, Departure, is_at_least


class CallReporter(Protocol):
    """The way to whoever waits for a call."""

    @property
    def receives_progress(self) -> bool:
        """Whether they want to know how far it is."""
        ...

    @property
    def departure(self) -> Departure:
        """Why nobody waits any more, of a request that is being ended."""
        ...

    @property
    def request_ids(self) -> Sequence[RequestId]:
        """The ids by which the client may cancel what it waits for."""
        ...

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        """Tell how far it is.

        Args:
            done: A number that grows.
            total: What it grows to; None: nobody knows.
            message: Words.
        """
        ...

    async def send_log(self, level: LogLevel, tool: str, message: str) -> None:
        """Tell what it says of its work.

        Args:
            level: How grave that is.
            tool: Whose words they are.
            message: The words.
        """
        ...


class ClientReporter:
    """Implements `CallReporter` for the client behind a request.

    Args:
        ctx: The request.
        caller: Who made it.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any], caller: Caller) -> None:
        self._ctx = ctx
        self._caller = caller

    @property
    def receives_progress(self) -> bool:
        """See `CallReporter.receives_progress`."""
        return (self._ctx.meta or {}).get("progress_token") is not None

    @property
    def departure(self) -> Departure:
        """See `CallReporter.departure`."""
        return self._caller.departures.find_reason(self._ctx.request_id)

    @property
    def request_ids(self) -> Sequence[RequestId]:
        """See `CallReporter.request_ids`."""
        request_id = self._ctx.request_id
        return () if request_id is None else self._caller.departures.list_request_ids(request_id)

    async def report_progress(self, done: float, total: float | None, message: str) -> None:
        """See `CallReporter.report_progress`."""
        await self._ctx.session.report_progress(done, total, message)

    async def send_log(self, level: LogLevel, tool: str, message: str) -> None:
        """See `CallReporter.send_log`; a client that has not asked for it is told nothing."""
        if not self._receives_log_level(level):
            return
        params = types.LoggingMessageNotificationParams(level=level, logger=tool, data=message)
        notification = types.LoggingMessageNotification(params=params)
        await self._ctx.session.send_notification(notification, related_request_id=self._ctx.request_id)

    def _receives_log_level(self, level: LogLevel) -> bool:
        if self._ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return self._caller.wishes.receives_log_level(level)
        # in the newest revision each request says it for itself
        least = (self._ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
        return least in LOG_LEVELS and is_at_least(level, least)


class CallEventForwarder:
    """Passes on what the host tells of a call on its way, in its order.

    Args:
        tell: To whom.
        on_asked: Is called with the id of a call inside of it that waits for a decision.
    """

    def __init__(self, tell: CallReporter, on_asked: Callable[[str], None]) -> None:
        self._tell = tell
        self._on_asked = on_asked
        self._done = 0.0

    def handle_call_event(self, kind: str, told: Mapping[str, Any]) -> None:
        """See `agentcore.core.calls.Notify`."""
        if kind == "approval":
            self._on_asked(told["callId"])
        elif kind == "progress":
            # it has to grow from one to the next, and a tool may give none or a smaller one
            fraction = told.get("fraction")
            self._done = max(self._done + 1e-6, fraction if isinstance(fraction, float) else 0.0)
            total = 1.0 if isinstance(fraction, float) else None
            asyncio.ensure_future(self._tell.report_progress(self._done, total, str(told.get("message", ""))))  # noqa: RUF006
        elif kind == "log":
            asyncio.ensure_future(self._tell.send_log(told["level"], told["tool"], told["message"]))  # noqa: RUF006
