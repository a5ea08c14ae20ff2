"""Notifies a client while it waits for a call: of the call's progress, and of its log messages."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types import RequestId
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentcore.api import LogLevel
from agentcore.mcp_endpoint.caller import LOG_LEVELS, Caller, Departure, is_at_least

_LEAST_STEP = 1e-6


class CallReporter(Protocol):
    """Notifies the client that waits for a call."""

    @property
    def receives_progress(self) -> bool:
        """True if the client requested progress notifications."""
        ...

    @property
    def departure(self) -> Departure:
        """The reason why no client waits any more for a request that is being ended."""
        ...

    @property
    def request_ids(self) -> Sequence[RequestId]:
        """The ids by which the client may cancel the call."""
        ...

    async def report_progress(self, fraction: float | None, message: str) -> None:
        """Report the progress of the call.

        Args:
            fraction: From 0 to 1; None: it is unknown.
            message: A text for the user.
        """
        ...

    async def mark_waiting(self, *, is_waiting: bool) -> None:
        """Record whether the call only waits for the user, or is about to run.

        Raises:
            ToolError: `too_many_unread`: that it runs could not be recorded.
        """
        ...

    async def send_log(self, level: LogLevel, tool: str, message: str) -> None:
        """Send a log message of the call.

        Args:
            level: Its severity.
            tool: The tool that logs it.
            message: The message.
        """
        ...


class ClientReporter:
    """Implements `CallReporter` for the client behind a request.

    Args:
        ctx: The request.
        caller: The client that made it.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any], caller: Caller) -> None:
        self._ctx = ctx
        self._caller = caller
        self._done = 0.0

    @property
    def receives_progress(self) -> bool:
        """True if the request has a progress token."""
        return (self._ctx.meta or {}).get("progress_token") is not None

    @property
    def departure(self) -> Departure:
        """The reason why no client waits for the request any more."""
        return self._caller.departures.find_reason(self._ctx.request_id)

    @property
    def request_ids(self) -> Sequence[RequestId]:
        """The ids by which the client may cancel the request."""
        request_id = self._ctx.request_id
        return () if request_id is None else self._caller.departures.list_request_ids(request_id)

    async def report_progress(self, fraction: float | None, message: str) -> None:
        """Send a progress notification."""
        # It has to grow with each notification of a request, from waiting for approval to the end, but a tool may
        # report none or a smaller one: such a report adds next to nothing, so that a later fraction still counts.
        self._done = max(self._done + _LEAST_STEP, fraction or 0.0)
        await self._ctx.session.report_progress(self._done, None if fraction is None else 1.0, message)

    async def mark_waiting(self, *, is_waiting: bool) -> None:
        """Record whether the call only waits for the user, or is about to run."""
        if (request_id := self._ctx.request_id) is not None:
            await self._caller.mark_waiting(request_id, is_waiting)

    async def send_log(self, level: LogLevel, tool: str, message: str) -> None:
        """Send a log message, if the client has requested its level."""
        if not self._receives_log_level(level):
            return
        params = types.LoggingMessageNotificationParams(level=level, logger=tool, data=message)
        notification = types.LoggingMessageNotification(params=params)
        await self._ctx.session.send_notification(notification, related_request_id=self._ctx.request_id)

    def _receives_log_level(self, level: LogLevel) -> bool:
        if self._ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return self._caller.wishes.receives_log_level(level)
        # in the newest revision each request has its own level
        least = (self._ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
        return least in LOG_LEVELS and is_at_least(level, least)


class CallEventForwarder:
    """Forwards the core's events of a call to the client, in order.

    Args:
        tell: Notifies the client.
        on_asked: Called with the id of a nested call that waits for a decision.
    """

    def __init__(self, tell: CallReporter, on_asked: Callable[[str], None]) -> None:
        self._tell = tell
        self._on_asked = on_asked

    def handle_call_event(self, kind: str, told: Mapping[str, Any]) -> None:
        """Handle an event of the call; implements `agentcore.core.calls.call.Notify`."""
        if kind == "approval":
            self._on_asked(told["callId"])
        elif kind == "progress":
            fraction = told.get("fraction")
            known = fraction if isinstance(fraction, float) else None
            asyncio.ensure_future(self._tell.report_progress(known, str(told.get("message", ""))))  # noqa: RUF006
        elif kind == "log":
            asyncio.ensure_future(self._tell.send_log(told["level"], told["tool"], told["message"]))  # noqa: RUF006
