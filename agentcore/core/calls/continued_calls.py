"""Calls that an earlier server began, and that the host of their module kept running without a server."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection
from dataclasses import field

import structlog

from agentcore.api import Principal
from agentcore.core.calls.call import Call, CallOutcome, CallRequest, ModelReader, PreparedCall
from agentcore.core.calls.execution import CarryOn
from agentcore.core.declarations.hosted_names import host_in
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.encoding import to_json
from agentcore.late_dataclasses import dataclass
from agentcore.store.record.call_row import CallRow
from agentcore.store.record.record import Record

log = structlog.get_logger(__name__)

_MODELS = frozenset(("chat", "mcp"))

Run = Callable[[Call, PreparedCall, float, CarryOn], Awaitable[CallOutcome]]


@dataclass(eq=False)
class CarriedOnCall:
    """One such call.

    Args:
        row: Its row in the record.
        end: How it ended, once that is known.
    """

    row: CallRow
    end: asyncio.Future[CallOutcome] = field(repr=False)

    async def wait_for_outcome(self) -> CallOutcome:
        """Wait for its end."""
        return await asyncio.shield(self.end)


class CarriedOnCalls:
    """Stores these calls from the start of this server until a caller has fetched their result, once.

    Args:
        run: Waits for the end of a call that its host is still running.
    """

    def __init__(self, record: Record, registry: ToolRegistry, resources: ResourceRegistry, run: Run) -> None:
        self._record = record
        self._registry = registry
        self._resources = resources
        self._run = run
        self._calls: dict[str, CarriedOnCall] = {}
        self._left = {row.call_id: row for row in record.going_on}
        self._settled: dict[str, asyncio.Event] = {host_in(row.module): asyncio.Event() for row in self._left.values()}
        self._tasks: set[asyncio.Task[None]] = set()

    async def find_call(self, request: CallRequest) -> CarriedOnCall | None:
        """Return the call that the same caller sends again with its id, unchanged, until its result was fetched."""
        left = self._left.get(request.call_id or "")
        if left is not None and _is_of(left, request.principal, request.tool):
            await self._settled[host_in(left.module)].wait()  # modules are still starting, or their host may come back
        found = self._calls.get(request.call_id or "")
        if found is None or not _is_of(found.row, request.principal, request.tool):
            return None
        return found if self._digest_of(request, found.row) == found.row.arguments_digest else None

    def remove_call(self, going_on: CarriedOnCall) -> None:
        """Somebody has had the end of a call."""
        self._calls.pop(going_on.row.call_id, None)

    async def pop_matching_call(self, request: CallRequest) -> CarriedOnCall | None:
        """Return such a call without its id: one of the same tool and arguments in its session."""
        for row in list(self._left.values()):
            if _may_be(row, request):
                await self._settled[host_in(row.module)].wait()
        for call_id, each in self._calls.items():
            if call_id == request.call_id:
                return self._calls.pop(call_id)
            if _may_be(each.row, request) and self._digest_of(request, each.row) == each.row.arguments_digest:
                return self._calls.pop(call_id)
        return None

    def resume_call(self, call_id: str, modules: Collection[str], limit_s: float, end: CarryOn) -> bool:
        """Resume a call that a host reports; False: it was not left open, or does not belong to these modules.

        Args:
            modules: The modules of the host.
            limit_s: Its remaining time.
            end: Waits for its end.
        """
        row = self._left.get(call_id)
        tool = None
        if row is not None and row.module in modules:
            tool = self._registry.find_tool_of_module(row.module, row.tool)
        if row is None or tool is None:
            return False
        del self._left[call_id]
        principal = Principal(row.principal_kind, row.principal_id)  # type: ignore[arg-type]  # as it was written
        reader = ModelReader() if row.principal_kind in _MODELS else None
        call = Call.from_request(CallRequest(row.tool, {}, principal, session_id=row.session_id, reader=reader))
        call.id = row.call_id
        call.started_ms = row.time_ms
        call.row = row
        call.is_carried_on = True
        living = {each.resource_id: each for each in self._resources.list()}
        resource = living.get(row.resource_id or "")
        call.host = tool.module.host
        call.prepared = PreparedCall(tool, {}, {}, row.arguments_digest, row.arguments, resource)
        going_on = CarriedOnCall(row, asyncio.get_running_loop().create_future())
        self._calls[call_id] = going_on
        # in no TaskGroup: it ends with the call, which `Core.stop` waits for
        work = self._see_through(going_on, call, call.prepared, limit_s, end)
        task = asyncio.get_running_loop().create_task(work, name=f"carried_on:{row.tool}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        log.info("call_carried_on", call_id=call_id, tool=row.tool, module=row.module)
        return True

    def interrupt_remaining_calls(self, host: str = "") -> None:
        """End the calls that no host has reported as `interrupted`: they ended with the server that began them.

        Args:
            host: Those of this foreign machine; empty: those of hosts on this machine.
        """
        for row in [row for row in self._left.values() if host_in(row.module) == host]:
            log.warning("call_interrupted", call_id=row.call_id, tool=row.tool, module=row.module)
            self._record.append(row._replace(outcome="interrupted", duration_ms=None))
            del self._left[row.call_id]
        if (settled := self._settled.get(host)) is not None:
            settled.set()

    @property
    def hosts_left(self) -> frozenset[str]:
        """Return the foreign machines that may still report a call."""
        return frozenset(filter(None, (host_in(row.module) for row in self._left.values())))

    def _digest_of(self, request: CallRequest, row: CallRow) -> str:
        """Return the digest of arguments as it was when the call began: those of models were repaired first."""
        tool = self._registry.find_tool_of_module(row.module, row.tool)
        arguments = request.arguments
        if tool is not None and request.principal.kind in _MODELS:
            arguments = tool.schema.repair_arguments(arguments)
        return hashlib.sha256(to_json(arguments)).hexdigest()

    async def _see_through(
        self, going_on: CarriedOnCall, call: Call, prepared: PreparedCall, limit_s: float, end: CarryOn
    ) -> None:
        outcome = await self._run(call, prepared, limit_s, end)
        if not going_on.end.done():
            going_on.end.set_result(outcome)


def _may_be(row: CallRow, request: CallRequest) -> bool:
    return row.session_id == request.session_id and _is_of(row, request.principal, request.tool)


def _is_of(row: CallRow, principal: Principal, tool: str) -> bool:
    return (row.principal_kind, row.principal_id, row.tool) == (principal.kind, principal.id, tool)
