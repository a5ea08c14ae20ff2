"""What a host may request of its server, operation by operation, in one table for every link.

A process of this machine may use all of it. A foreign machine – one that dialled in, or belongs to a pool – has the
arguments of the calls that are sent to it, and nothing else of the session, unless the user allowed it to use chats.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType

from agentcore.api import Artifacts, ChatSession, Runtime, ToolContext, ToolDefinition
from agentcore.api.operation import Access, operations_of
from agentcore.core.calls.call_errors import chat_refused
from agentcore.core.declarations.module_storage import StoredBytes
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

_PROTOCOLS = (Runtime, ToolContext, ChatSession, Artifacts, StoredBytes)

_WITHOUT_METHOD = (
    # reports of calls
    "tool.result",
    "tool.progress",
    # resources
    "resource.create",
    "resource.adopt",
    "resource.update",
    "resource.event",
    "resource.release",
    "resource.held",
    "resource.all",
    # what modules report and serve
    "event.subscribe",
    "event.unsubscribe",
    "module.blocked",
    "control_files.report",
    "module.reports",
    "login.status",
    "requirement.declare",
    "requirement.progress",
    "route.add",
    "route.remove",
    "route.out",
    "route.taken",
    "route.close",
    # the link itself
    "hello",
    "hello.done",
    "pong",
    "goodbye",
)
"""Messages of a host that stand for no single method of a module; all of them are about what is its own."""

OPERATIONS: Mapping[str, Access] = MappingProxyType(
    {each.name: each.access for protocol in _PROTOCOLS for each in operations_of(protocol).values()}
    | dict.fromkeys(_WITHOUT_METHOD, "own")
)
"""Each operation that a host may request, and whether a foreign machine may use it. Others are unknown."""


RECORDED_PER_HOUR = 1_000
"""Rows that a foreign machine may add to the record within an hour; they are stored permanently."""

_HOUR_SECONDS = 3600.0


class RecordedRows:
    """Counts what a foreign machine adds to the record, over all of its connections."""

    def __init__(self) -> None:
        self._count = 0
        self._since = time.monotonic()

    def add_rows(self, rows: int = 1) -> None:
        """Add rows to the count.

        Raises:
            ToolError: `too_many_recorded`.
        """
        now = time.monotonic()
        if now - self._since > _HOUR_SECONDS:
            self._count = 0
            self._since = now
        if self._count + rows > RECORDED_PER_HOUR:
            message = f"a host on another machine adds at most {RECORDED_PER_HOUR:,} rows to the record in an hour"
            raise ToolError("too_many_recorded", message, retryable=True, limit=RECORDED_PER_HOUR)
        self._count += rows


@dataclass(frozen=True, slots=True)
class MachineAccess:
    """The foreign machine at the other end of a link.

    Args:
        name: The host's name.
        may_use_chats: True while the user allows it to use chats.
        find_aliased_tool: Returns the tool that a dotted name of the protocol stands for in its calls; None: there is
            none.
        recorded: What it has added to the record.
    """

    name: str
    may_use_chats: Callable[[], bool]
    find_aliased_tool: Callable[[str], ToolDefinition | None]
    recorded: RecordedRows = field(default_factory=RecordedRows)

    def check_operation(self, operation: str) -> None:
        """Refuse an operation that this machine may not use.

        Raises:
            ToolError: `host_not_allowed`.
        """
        if OPERATIONS[operation] == "chat" and not self.may_use_chats():
            raise chat_refused(self.name, operation)
