"""The calls and previews that one host works on: the messages sent for them, and how they end."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentcore.api import Principal, ToolResult
from agentcore.core.calls.call_context import CallContext
from agentcore.core.calls.call_errors import CallDetached
from agentcore.core.calls.execution import CarryOn
from agentcore.core.module_code.preview_state import not_in_preview
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.hosts.server_side import host_messages
from agentcore.hosts.server_side.browser_methods import without_page
from agentcore.hosts.server_side.linked_module import LinkedModule, module_failed_error
from agentcore.hosts.server_side.operation_access import MachineAccess
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message, Peer
from agentcore.hosts.wire.values import arguments_to_wire, error_of, principal_to_wire, resource_to_wire, result_of
from agentcore.late_dataclasses import dataclass
from agentcore.limits import CANCEL_GRACE_SECONDS

_DONE_SECONDS = 0.5
_IDS_KNOWN = 10_000
TIMEOUT_SECONDS_MAX = 3600.0
"""The maximum time limit of a request."""


@dataclass(eq=False, slots=True)
class SentCall:
    """A call, or a preview, that the host works on.

    Args:
        result: Its result; None: it is a preview.
        asked: The tool and its arguments, as long as it may have to be sent again.
        is_sent: True if a link has sent it.
    """

    context: CallContext
    module: LinkedModule
    result: asyncio.Future[ToolResult] | None = None
    asked: tuple[str, dict[str, Any]] | None = None
    is_sent: bool = False
    work: set[asyncio.Task[Any]] | None = None

    def attach_current_task(self) -> None:
        """Note that the running task is for this call, and ends with it."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - requests are tasks
        self.work = self.work or set()
        self.work.add(task)
        task.add_done_callback(self.work.discard)

    def end_work(self) -> None:
        """End all work for this call."""
        for task in tuple(self.work or ()):
            task.cancel()


class SentCalls:
    """The calls of one host.

    Args:
        modules: The modules that it runs, by number.
        outlives: True if it survives this server.
        foreign: The foreign machine; None: it is a process of this machine.
    """

    def __init__(
        self,
        peer: Peer,
        resources: ResourceRegistry,
        modules: Callable[[], Mapping[int, LinkedModule]],
        *,
        outlives: bool,
        foreign: MachineAccess | None = None,
    ) -> None:
        self.foreign = foreign
        self.peer = peer
        self._resources = resources
        self._modules = modules
        self._outlives = outlives
        self._loop = asyncio.get_running_loop()
        self._next = 0
        self._last_principal: tuple[Principal | None, dict[str, Any]] = None, {}
        self._sent: dict[int, SentCall] = {}
        self._known_ids: deque[str] = deque(maxlen=_IDS_KNOWN)
        self._expected: dict[int, asyncio.Event] = {}

    def next_number(self) -> int:
        """A number that no other call has."""
        self._next += 1
        return self._next

    def number_from(self, number: int) -> None:
        """Give calls numbers above this one, because the host knows those up to it from an earlier server."""
        self._next = max(self._next, number)

    def switch_peer(self, peer: Peer, modules: Callable[[], Mapping[int, LinkedModule]]) -> None:
        """Use another link of the same host."""
        self.peer = peer
        self._modules = modules

    def close_call(self, number: int) -> SentCall | None:
        """A call has ended."""
        return self._sent.pop(number, None)

    def detach_all(self) -> None:
        """End calls only on this side when the server ends and the host keeps running."""
        for each in self._pop_all():
            if each.result is not None and not each.result.done():
                each.result.set_exception(CallDetached())

    def fail_all(self, reason: str) -> None:
        """End all calls, because their host has ended."""
        for each in self._pop_all():
            if each.result is not None and not each.result.done():
                each.result.set_exception(module_failed_error(each.module.name, reason))

    def _pop_all(self) -> list[SentCall]:
        sent = list(self._sent.values())
        self._sent = {}
        return sent

    @property
    def unfinished(self) -> list[tuple[int, SentCall]]:
        """The calls that have not ended, by their numbers."""
        return [(number, each) for number, each in self._sent.items() if each.result is not None]

    def resume_call(self, number: int, sent: SentCall) -> None:
        """Request the end of a call that the host kept running."""
        self.peer.send_message({"type": "tool.resume", "call": sent.context.call_id, "n": number})

    def expect_calls(self, numbers: Iterable[int]) -> None:
        """Let requests of these calls wait, which an earlier server sent, until they are resumed."""
        self._expected |= {number: asyncio.Event() for number in numbers if number not in self._sent}

    def _mark_resumed(self, number: int) -> None:
        if (expected := self._expected.pop(number, None)) is not None:
            expected.set()

    def carrying_on(self, call_id: str, number: int) -> CarryOn:
        """The way to wait for the end of a call that has gone on without a server."""

        async def wait_for_result(context: CallContext) -> ToolResult:
            module = next(each for each in self._modules().values() if each.name == context.module)
            sent = self._sent[number] = SentCall(context, module, self._loop.create_future(), is_sent=True)
            self._known_ids.append(context.call_id)
            self._mark_resumed(number)
            self.resume_call(number, sent)
            try:
                assert sent.result is not None  # noqa: S101 - made above
                return await sent.result
            except asyncio.CancelledError:
                await self.cancel_call(number, sent)
                raise
            finally:
                self._sent.pop(number, None)
                sent.end_work()

        return wait_for_result

    def abandon_call(self, call_id: str, number: int) -> None:
        """Cancel a call of an earlier server that no caller waits for."""
        self._mark_resumed(number)
        self.peer.send_message({"type": "tool.cancel", "n": number})
        self.peer.send_message({"type": "tool.done", "call": call_id})

    def open_call(self, context: CallContext, module: LinkedModule) -> tuple[int, SentCall]:
        """Give a call, or a preview, its number."""
        self._next += 1
        sent = self._sent[self._next] = SentCall(context, module)
        self._known_ids.append(context.call_id)
        return self._next, sent

    def build_message(self, kind: str, number: int, sent: SentCall, tool: str, arguments: dict[str, Any]) -> Message:
        """Build the message of a call, or a preview."""
        context = sent.context
        resource = context.resource
        if (method := sent.module.methods.get(tool)) is not None:
            tool = method.name
            arguments = without_page(arguments)
        message: Message = {
            "type": kind,
            "id": context.call_id,
            "call": context.call_id,
            "n": number,
            "module": sent.module.number,
            "chatSessionId": context.session_id,
            "resourceId": None,
            "tool": tool,
            **arguments_to_wire(arguments),
            "principal": self._principal_to_wire(context.principal),
            "timeoutMs": self.time_left_ms(context),
        }
        if (chars := context.model_chars) is not None:
            message["modelChars"] = chars
        if (todos := context.todos) is not None:
            if self.foreign is None or self.foreign.may_use_chats():
                message["session"] = {"todos": list(todos)}
            else:
                message["chatRefused"] = True
        if sent.module.resource_types:
            session = context.session_id
            message["nextIndex"] = {
                each: self._resources.next_index(session, each) for each in sent.module.resource_types
            }
        if resource is not None:
            message["resourceId"] = resource.resource_id
            message["resource"] = resource_to_wire(resource)
        return message

    def _principal_to_wire(self, principal: Principal) -> dict[str, Any]:
        """Return the principal in its wire format; cached, because mostly the same one calls again."""
        if principal is not self._last_principal[0]:
            self._last_principal = principal, principal_to_wire(principal)
        return self._last_principal[1]

    def time_left_ms(self, context: CallContext) -> int:
        """Return how much time a call has left; for one that has not begun, an hour."""
        deadline = context.deadline
        left_s = deadline - self._loop.time() if deadline else TIMEOUT_SECONDS_MAX
        return max(int(left_s * 1000), 0)

    def handle_result(self, message: Message) -> None:
        """A call has ended."""
        number = message.get("n")
        call_id = message.get("id")
        sent = self.find_open_call(number)
        if sent is None:
            # of a call that was cancelled, or that timed out: its caller has gone
            self.peer.drop_blobs(message)
            if self._outlives and number not in self._expected and type(call_id) is str:
                self.peer.send_message({"type": "tool.done", "call": call_id})
            return
        if sent.result is None or call_id != sent.context.call_id:
            raise LinkError("a result that is no answer to its call")
        if sent.result.done():
            if not self._outlives:
                raise LinkError("a second result of one call")
            self.peer.drop_blobs(message)  # the other one was on its way when this one was asked for
            return
        # once it is in the record: after the host deletes it, its result would be lost
        if self._outlives:
            self._loop.call_later(
                _DONE_SECONDS, self.peer.send_message, {"type": "tool.done", "call": sent.context.call_id}
            )
        if message.get("ok") is True:
            self._set_result(sent, sent.result, message.get("result"))
        else:
            sent.result.set_exception(error_of(message.get("error")))

    def _set_result(self, sent: SentCall, ended: asyncio.Future[ToolResult], result: Any) -> None:
        method = sent.module.methods.get(sent.context.tool)
        if method is None:
            ended.set_result(result_of(result, self.peer.pop_blob))
            return
        try:
            ended.set_result(method.read_tool_result(result))
        except ToolError as exc:
            ended.set_exception(exc)

    def handle_progress(self, told: host_messages.Progress) -> None:
        """Handle a progress report of a call."""
        sent = self.find_open_call(told.n)
        if sent is None or sent.result is None:
            return  # it has ended, or it is a preview, whose progress is not shown
        if told.kind == "progress":
            sent.context.progress(told.fraction, told.message)
        elif told.kind == "log":
            sent.context.log(told.message, level=told.level)  # type: ignore[arg-type]  # it is read there
        elif told.kind == "output":
            sent.context.show_output(told.text)

    async def cancel_call(self, number: int, sent: SentCall) -> None:
        """Cancel a call in the host, and let it clean up."""
        sent.result = self._loop.create_future()  # the other one was cancelled with its waiting caller
        self.peer.send_message({"type": "tool.cancel", "n": number})
        await asyncio.wait({sent.result}, timeout=CANCEL_GRACE_SECONDS)
        if sent.result.done() and not sent.result.cancelled():
            sent.result.exception()  # nothing else reads it

    def check_recorded(self, call_id: str, rows: int = 1) -> None:
        """Check that the host may add rows to the record, about a call or (empty) none.

        Raises:
            ToolError: `too_many_recorded`; `call_not_found`: a foreign machine names a call that was
                not sent to it.
        """
        if self.foreign is None:
            return
        if call_id and call_id not in self._known_ids:
            raise ToolError("call_not_found", f"no call {call_id[:100]!r} was sent to host {self.foreign.name!r}")
        self.foreign.recorded.add_rows(rows)

    def find_open_call(self, number: Any) -> SentCall | None:
        """Return a call that the host works on; None: it has ended.

        Raises:
            LinkError: There never was one of this number.
        """
        if type(number) is not int or not 0 < number <= self._next:
            raise LinkError("it speaks of a call that was never sent to it")
        return self._sent.get(number)

    async def require_call(self, number: int, *, in_preview: bool = False) -> SentCall:
        """Return the call on whose behalf the running task works from now on.

        Args:
            number: Its number.
            in_preview: True if a preview may request it, too: its call is not approved yet, so it can only read.
        Raises:
            ToolError: `not_in_preview`; `cancelled`: the call has ended.
            LinkError: There never was one of this number.
        """
        if (expected := self._expected.get(number)) is not None:
            await expected.wait()
        sent = self.find_open_call(number)
        if sent is None:
            raise ToolError("cancelled", "the call has ended")
        if sent.result is None and not in_preview:
            raise not_in_preview()
        sent.attach_current_task()
        return sent
