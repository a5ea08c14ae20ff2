"""The one path of a call, from whichever surface: admit, prepare, permit, run, settle."""

import asyncio
from collections.abc import Callable, Collection

from agentcore.api import Principal
from agentcore.config.app_json import LimitsConfig
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.pending_approval import PendingApproval
from agentcore.core.calls.admission import admit_call
from agentcore.core.calls.call import Call, CallOutcome, CallRequest, Notify, PreparedCall
from agentcore.core.calls.call_context import CallServices
from agentcore.core.calls.call_errors import (
    CallDetached,
    CallTimeout,
    ModuleError,
    cancelled_error,
    error_from_exception,
)
from agentcore.core.calls.chat_protocols import ConversationSlot
from agentcore.core.calls.continued_calls import CarriedOnCalls
from agentcore.core.calls.execution import CarryOn, Execution
from agentcore.core.calls.permission import Permission
from agentcore.core.calls.prepare import Preparation
from agentcore.core.calls.settling import Settlement
from agentcore.core.events import EventBus
from agentcore.core.module_code.containment import Contained
from agentcore.core.modules.host_protocols import ModuleHosts
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.authority import PERSONS, authorise
from agentcore.core.policy.page_scripts import PageScripts
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.store.state.state_errors import RecordWriteError
from agentcore.store.store import Store

Explain = Callable[[ModuleRecord, ToolError, Principal], None]
"""Completes the error with which a module ended a call: what the user can install, if it names that."""


class Calls:
    """Accepts calls and carries each out to its end. Knows nothing about HTTP, models, or any module.

    Attributes:
        in_flight: Calls in flight, by id.
        counts: Number of ended calls, by `ok` or the error's type.
        stopped: Why new calls are refused, while those in flight continue; None: they are accepted.
        preparation: The first steps of a call, for code that checks one without running it.
        permission: Decides whether calls may run.
        carried_on: Calls that an earlier server began, and that their host kept running.
    """

    def __init__(
        self,
        *,
        limits: LimitsConfig,
        store: Store,
        events: EventBus,
        workspace: Workspace,
        registry: ToolRegistry,
        resources: ResourceRegistry,
        policy: ApprovalPolicy,
        approvals: ApprovalQueue,
        conversation: ConversationSlot,
        places: ModuleHosts,
        page_scripts: PageScripts,
        explain: Explain,
    ) -> None:
        self._limits = limits
        self._record = store.record
        self._approvals = approvals
        self._explain = explain
        self._services = services = CallServices(
            workspace, store, events, resources, conversation, self.run_call, places, policy.sources.name_all
        )
        self.preparation = Preparation(registry, services)
        self.permission = Permission(policy, approvals, self.preparation, workspace, page_scripts)
        self._execution = Execution(registry, self.preparation, self.permission, services, limits)
        self._settlement = Settlement(store, events, resources)
        self.in_flight: dict[str, Call] = {}
        self.counts = self._settlement.counts
        self.stopped: str | None = None
        self._watchers: list[asyncio.Future[None]] = []
        self.carried_on = CarriedOnCalls(store.record, registry, resources, self._carry_on)

    async def run_call(self, request: CallRequest, notify: Notify | None = None) -> CallOutcome:
        """Carry out one call; every failure is an outcome, none is raised. `notify` receives events as in `Notify`."""
        if request.call_id is not None and (going_on := await self.carried_on.find_call(request)) is not None:
            outcome = await going_on.wait_for_outcome()
            self.carried_on.remove_call(going_on)
            return outcome
        return await self._see_through(Call.from_request(request, notify), is_new=True)

    async def _start_call(self, call: Call) -> None:
        # before it is admitted: a call that waits for the disk is not counted among the calls in flight
        if self._record.is_full:
            await self._record.drain()
        admit_call(call, self.in_flight, self._limits.calls_in_flight, self._approvals, self.stopped)
        call.work = Contained(self._carry_out(call), f"call:{call.request.tool}")

    async def _see_through(self, call: Call, *, is_new: bool) -> CallOutcome:
        """Wait for the end of a call, and report it."""
        try:
            if is_new:
                await self._start_call(call)
            assert call.work is not None  # noqa: S101 - it is carried out
            outcome = await call.work.wait()
        except ToolError as exc:
            # an error that ends a call from outside, such as a cancellation, comes from the core
            outcome = CallOutcome(call.id, error=exc, is_untrusted=isinstance(exc, ModuleError) and exc.untrusted)
        except RecordWriteError as exc:
            outcome = CallOutcome(call.id, error=exc.as_tool_error())
        except asyncio.CancelledError:
            call.is_cancelled = True  # a thread that works on it checks this
            self._finish_call(call, CallOutcome(call.id, error=cancelled_error()))
            raise
        except CallDetached:
            return self._detach_call(call)
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            outcome = CallOutcome(call.id, error=error_from_exception(call, exc))
        outcome.resource_id = self._settlement.resource_of(call, outcome)
        if outcome.resource_id is not None:
            # nothing else may use what the call created before its caller knows of it
            await self._services.resources.indexes.wait_until_saved()
        if call.row is not None and call.prepared is not None:
            outcome.host = call.prepared.tool.module.host
        if call.ruling is not None and call.ruling.approval is not None:
            await _use_up_approval(call, call.ruling.approval, outcome)
        self._finish_call(call, outcome)
        return outcome

    async def _carry_out(self, call: Call) -> CallOutcome:
        """The steps, in their order: what cannot run is never asked about, and what was not permitted never runs."""
        try:
            authorise(call.request.principal, "call")
            prepared = await self.preparation.prepare_call(call)
            permitted = await self.permission.permit_call(call, prepared)
            return await self._execution.run(call, permitted)
        except ModuleError as exc:
            if call.prepared is not None:
                self._explain(call.prepared.tool.module, exc, call.request.principal)
            # what calls inside of it have read, they have noted
            if exc.untrusted and not call.has_read_untrusted:
                await self.permission.record_untrusted_source(call)
            raise

    def _detach_call(self, call: Call) -> CallOutcome:
        """End a call for its caller, while its host continues it without this server."""
        call.has_ended = True
        self.in_flight.pop(call.id, None)
        if call.prepared is not None:
            call.prepared.tool.module.end_call(call.id)
        message = "the server ended while this call ran, which goes on: send it again with its id to have its end"
        error = ToolError("interrupted", message, retryable=True, call_id=call.id)
        return CallOutcome(call.id, error=error)

    async def _carry_on(self, call: Call, prepared: PreparedCall, limit_s: float, end: CarryOn) -> CallOutcome:
        """Wait for a call that an earlier server began: it is in flight like any other."""
        self.in_flight[call.id] = call
        limit_s = min(max(limit_s, 0.0), self._limits.call_timeout_max)
        call.deadline = asyncio.get_running_loop().time() + limit_s
        call.work = Contained(self._execution.carry_on(call, prepared, end), f"call:{call.request.tool}")
        call.work.cancel_at(call.deadline, CallTimeout(limit_s))
        return await self._see_through(call, is_new=False)

    def _finish_call(self, call: Call, outcome: CallOutcome) -> None:
        call.has_ended = True
        # by identity: a second call with its id was not admitted, and must not remove it
        if self.in_flight.get(call.id) is call:
            del self.in_flight[call.id]
        if call.has_inner:
            # a task or thread of the module may have made them and still be running
            for inner in [each for each in self.in_flight.values() if each.parent is call]:
                _cancel_with_error(inner, ToolError("cancelled", "the call that made this one has ended"))
        while self._watchers:
            if not (watcher := self._watchers.pop()).done():
                watcher.set_result(None)
        self._settlement.settle_call(call, outcome)

    # -- ending calls from outside -----------------------------------------------------------------------------

    async def cancel_call(self, call_id: str, by: Principal) -> None:
        """End a call that is in flight, waits for a decision, or was approved and has not begun; it gets `cancelled`.

        Raises:
            ToolError: `call_not_found`: there is none, or it is another caller's and `by` is not the user.
        """
        call = self.in_flight.get(call_id)
        pending = self._approvals.find_pending(call_id)
        owners = [each.request.principal for each in (call, pending) if each is not None]
        if not owners or (by.kind not in PERSONS and owners[0] != by):
            raise ToolError("call_not_found", f"no call {call_id!r} is on its way; it may have ended", call_id=call_id)
        if call is not None:
            _cancel_with_error(call, cancelled_error())
        if pending is not None:
            await pending.withdraw("the call was cancelled")

    def cancel_calls(self, caller: str, error: ToolError) -> int:
        """End all calls of a caller (name of the principal or the account) with an error; return their number."""
        calls = [call for call in self.in_flight.values() if caller in (call.request.principal.name, call.account)]
        for call in calls:
            _cancel_with_error(call, error)
        return len(calls)

    def cancel_all_calls(self, error: ToolError) -> int:
        """End all calls with an error; return their number."""
        calls = list(self.in_flight.values())
        for call in calls:
            _cancel_with_error(call, error)
        return len(calls)

    async def end_calls(self, call_ids: Collection[str], error: ToolError, grace_s: float) -> None:
        """Wait until calls have ended; after the grace period end the others with an error, and wait once more.

        Args:
            call_ids: Of calls in flight; read again while waiting, so that it may shrink and grow.
        """
        if not await self._have_ended(call_ids, grace_s):
            for call_id in list(call_ids):
                _cancel_with_error(self.in_flight[call_id], error)
            await self._have_ended(call_ids, grace_s)

    async def _have_ended(self, call_ids: Collection[str], grace_s: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + grace_s
        while call_ids and (left := end - loop.time()) > 0:
            ended: asyncio.Future[None] = loop.create_future()
            self._watchers.append(ended)
            await asyncio.wait((ended,), timeout=left)
        return not call_ids


def _cancel_with_error(call: Call, error: ToolError) -> None:
    call.is_cancelled = True
    if call.work is not None:
        call.work.cancel_with(error)


async def _use_up_approval(call: Call, approval: PendingApproval, outcome: CallOutcome) -> None:
    outcome.edited_arguments = call.edited_arguments
    if call.row is None:
        # the decision is used up, though the call never began: after a restart it would be valid again
        await approval.delete_stored_request()
