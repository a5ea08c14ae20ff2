"""What a host may request of its server, operation by operation, in one table for every link.

A process of this machine may use all of it. A foreign machine – one that dialled in, or belongs to a pool – has the
arguments of the calls that are sent to it, and nothing else of the session, unless the user allowed it to use chats.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from agentcore.core.calls.errors import chat_refused
from agentcore.errors import ToolError

ForeignAccess = Literal["own", "chat"]
"""What a foreign machine may do: `own`: the operation is about its own calls, modules and resources, and allowed;
`chat`: it reads or changes a chat or uses the user's models, and is refused unless the user allowed it."""

OPERATIONS: Mapping[str, ForeignAccess] = MappingProxyType(
    {
        # requests of calls
        "tool.ask": "own",
        "tool.sample": "chat",
        "tool.roots": "chat",
        "call.nested": "own",
        "agent.run": "chat",
        "session.history": "chat",
        "session.summary": "chat",
        "session.todos": "chat",
        "artifact.save": "own",
        "artifact.load": "own",
        "artifact.open": "own",
        "artifact.describe": "own",
        "artifact.lines": "own",
        "artifact.find": "own",
        # what modules of a pool store
        "storage.get": "own",
        "storage.put": "own",
        "storage.delete": "own",
        # reports of calls
        "tool.result": "own",
        "tool.progress": "own",
        # resources
        "resource.create": "own",
        "resource.adopt": "own",
        "resource.update": "own",
        "resource.event": "own",
        "resource.release": "own",
        "resource.held": "own",
        "resource.all": "own",
        # what modules report and serve
        "event.publish": "own",
        "event.subscribe": "own",
        "event.unsubscribe": "own",
        "module.blocked": "own",
        "note": "own",
        "record": "own",
        "instruct": "own",
        "control_files.report": "own",
        "served.changed": "own",
        "definitions": "own",
        "module.reports": "own",
        "login.status": "own",
        "requirement.declare": "own",
        "requirement.progress": "own",
        "route.add": "own",
        "route.remove": "own",
        "route.out": "own",
        "route.taken": "own",
        "route.close": "own",
        # the link itself
        "hello": "own",
        "hello.done": "own",
        "pong": "own",
        "goodbye": "own",
    }
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
class ForeignMachine:
    """The foreign machine at the other end of a link.

    Args:
        name: The host's name.
        may_use_chats: True while the user allows it to use chats.
        recorded: What it has added to the record.
    """

    name: str
    may_use_chats: Callable[[], bool]
    recorded: RecordedRows = field(default_factory=RecordedRows)

    def check_operation(self, operation: str) -> None:
        """Refuse an operation that this machine may not use.

        Raises:
            ToolError: `host_not_allowed`.
        """
        if OPERATIONS[operation] == "chat" and not self.may_use_chats():
            raise chat_refused(self.name, operation)
