"""The calls of one foreign machine: each is carried out once, over one connection or a later one."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentcore.api import ToolResult
from agentcore.core.calls.call_context import CallContext
from agentcore.core.calls.continued_calls import CarriedOnCalls
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.server_side.linked_module import LinkedModule, module_failed_error
from agentcore.hosts.server_side.operation_access import MachineAccess
from agentcore.hosts.server_side.replies import Hello
from agentcore.hosts.server_side.sent_calls import SentCall, SentCalls

_LEFT_SECONDS = 0.3
"""How long before its deadline a call that could not be sent reports that, instead of a timeout."""


class MachineCalls:
    """Sends calls, stores them while there is no connection, and resumes them over the next one.

    Args:
        foreign: The host.
        is_there: True if it accepts calls.
        carried_on: Calls that an earlier server sent.
    Attributes:
        lost: The error of a sent call whose host has ended: of a module, and for a reason.
        leases: The number of the lease that is sent with a call on a resource; None: there are none.
    """

    lost: Callable[[str, str], ToolError] = staticmethod(module_failed_error)
    leases: Mapping[str, int] | None = None

    def __init__(
        self,
        foreign: MachineAccess,
        resources: ResourceRegistry,
        carried_on: CarriedOnCalls,
        is_there: Callable[[], bool],
    ) -> None:
        self._host = foreign.name
        self._carried_on = carried_on
        self._is_there = is_there
        self._loop = asyncio.get_running_loop()
        self.sent = SentCalls(
            _NoPeer(),  # type: ignore[arg-type]  # until a link
            resources,
            dict,
            outlives=True,
            foreign=foreign,
        )

    async def call_tool(
        self, module: LinkedModule, context: CallContext, tool: str, arguments: dict[str, Any]
    ) -> ToolResult:
        """Carry out a call, once, over this connection or a later one.

        Raises:
            ToolError: The error that ended it; `host_away`: it was never sent, because the host did not come back
                in time.
            Exception: Any other exception of the module.
        """
        number, sent = self.sent.open_call(context, module)
        sent.result = self._loop.create_future()
        sent.asked = (tool, arguments)
        timer: asyncio.TimerHandle | None = None
        try:
            if self._is_there():
                self._send_call(number, sent)
            elif context.deadline:
                timer = self._loop.call_at(context.deadline - _LEFT_SECONDS, self._fail_unsent_call, sent)
            return await sent.result
        except asyncio.CancelledError:
            if sent.is_sent:
                await self.sent.cancel_call(number, sent)
            raise
        finally:
            if timer is not None:
                timer.cancel()
            self.sent.close_call(number)
            sent.end_work()

    def _send_call(self, number: int, sent: SentCall) -> None:
        assert sent.asked is not None and sent.result is not None  # noqa: S101, PT018 - set when the call was made
        try:
            message = self.sent.build_message("tool.call", number, sent, *sent.asked)
            if self.leases is not None and (lease := self.leases.get(message["resourceId"])) is not None:
                message["lease"] = lease
            encoded = to_json(message)
            self.sent.peer.send_encoded(encoded)
            sent.is_sent = True
        except ToolError as exc:  # it is too large
            sent.result.set_exception(exc)

    def _fail_unsent_call(self, sent: SentCall) -> None:
        if not sent.is_sent and sent.result is not None and not sent.result.done():
            sent.result.set_exception(host_away(self._host))

    def resume_all(self, told: Hello, modules: Sequence[str]) -> None:
        """End each call once: resume those that the host has begun, and send those again that never reached it.

        Args:
            told: The calls that the host reports.
            modules: Its served modules.
        """
        there = {(each.call, each.n) for each in told.calls}
        waiting = self.sent.unfinished
        for number, sent in waiting:
            assert sent.result is not None  # noqa: S101 - those that wait have one
            if sent.result.done():
                continue
            if (sent.context.call_id, number) in there:
                self.sent.resume_call(number, sent)
            elif sent.is_sent and number <= told.highest:
                sent.result.set_exception(_interrupted_error(self._host))
            else:
                self._send_call(number, sent)
        own = {number for number, _ in waiting}
        for each in told.calls:
            if each.n not in own:
                end = self.sent.carrying_on(each.call, each.n)
                if not self._carried_on.resume_call(each.call, modules, each.left_ms / 1000, end):
                    self.sent.abandon_call(each.call, each.n)
        self._carried_on.interrupt_remaining_calls(self._host)

    def fail_all(self, reason: str) -> None:
        """Fail all calls: the end of those that were sent is unknown; the others can be made again."""
        for number, sent in self.sent.unfinished:
            assert sent.result is not None  # noqa: S101 - those that wait have one
            if not sent.result.done():
                sent.result.set_exception(
                    self.lost(sent.module.name, reason) if sent.is_sent else host_away(self._host)
                )
            self.sent.close_call(number)


class _NoPeer:
    """Replaces the link before the first one."""

    ended = ""

    def send_message(self, message: Mapping[str, Any]) -> None:
        """Do nothing."""


def host_away(host: str) -> ToolError:
    """Return the error of a call that was not begun because its host is not connected."""
    message = f"host {host!r} is not connected; nothing was done: try again when it is back"
    return ToolError("host_away", message, retryable=True, host=host)


def _interrupted_error(host: str) -> ToolError:
    message = (
        f"host {host!r} does not know of this call any more, which it had begun; whether it had an effect is not known"
    )
    return ToolError("interrupted", message, host=host)
