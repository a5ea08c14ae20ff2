"""Calls of MCP clients: nothing runs twice, even if a client knows nothing of approvals.

Such a client gives up after a minute, sends its call again, or several at once. So a call that needs approval is
identified by its client, session, tool and arguments. If an equal one arrives and no client waits for the first any
more, the two are one call: the user is asked once, and it runs once.
"""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from mcp_types import RequestId

from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.request import ApprovalRequest
from agentcore.core.calls.call import CallOutcome, CallRequest, ModelReader, Notify
from agentcore.core.events import Event, EventBus
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import CLIENT_RESULTS_KEPT, CLIENT_RESULTS_KEPT_BYTES, MCP_WAIT_SECONDS
from agentcore.mcp_endpoint.caller import Caller
from agentcore.mcp_endpoint.inputs import ClientAsker, Inputs
from agentcore.mcp_endpoint.progress_notifications import CallEventForwarder, CallReporter

RESULT_KEPT_SECONDS = 120.0
"""Time for which the result of a call is stored if its client disconnected while it ran."""

_TELL_SECONDS = 10.0

_DATA_FACTOR = 4
"""Memory of a result's data, as a multiple of its JSON text, which is stored too."""


class _Key(NamedTuple):
    """Identifies equal calls."""

    client: str
    session_id: str
    tool: str
    digest: str


@dataclass(slots=True, eq=False)
class _ClientCall:
    """A client's call, with the ways to notify and ask the client meanwhile.

    Args:
        answer_by: Deadline for the answer while the user is asked, by the event loop's clock.
        left: The detached call, if it continues although its client was answered or has disconnected.
    """

    caller: Caller
    tool: RegisteredTool
    arguments: dict[str, Any]
    tell: CallReporter
    inputs: Inputs
    answer_by: float
    left: "_DetachedCall | None" = None

    @property
    def key(self) -> _Key:
        """Identifies equal calls; valid once the arguments are repaired."""
        digest = hashlib.sha256(to_json(self.arguments)).hexdigest()
        return _Key(self.caller.principal.name, self.caller.session_id, self.tool.definition.name, digest)

    def repair_arguments(self) -> None:
        """Repair the arguments as the core does with those of models."""
        if self.caller.is_model:
            self.arguments = self.tool.schema.repair_arguments(self.arguments)


@dataclass(slots=True, eq=False)
class _DetachedCall:
    """A call whose client has disconnected: it still runs, or its result waits for an equal call.

    Args:
        request_ids: Ids by which its client may still cancel it; none: its request was answered.
    """

    key: _Key
    work: asyncio.Task[CallOutcome]
    request_ids: frozenset[RequestId]

    def size_bytes(self) -> int:
        """Return the size of the result; 0 while there is none."""
        if not self.work.done() or self.work.cancelled() or self.work.exception() is not None:
            return 0
        return _size_of(self.work.result())

    def drop_result(self) -> None:
        """Replace the result by the error `result_dropped`: the call has run, and must not run again."""
        call_id = self.work.result().call_id
        self.work = asyncio.create_task(_build_dropped_outcome(call_id), name=f"mcp:dropped:{call_id}")


RunCall = Callable[[CallRequest, Notify], Coroutine[Any, Any, CallOutcome]]
"""Carries out one call, and notifies of its events."""


class ClientCalls:
    """Runs the calls of all clients through the core.

    Args:
        run_call: Carries out a call.
        approvals: Calls that wait for the user.
        events: Reports which clients were revoked.
    """

    def __init__(self, run_call: RunCall, approvals: ApprovalQueue, events: EventBus) -> None:
        self._run_in_core = run_call
        self._approvals = approvals
        self._attended: set[str] = set()
        self._left: list[_DetachedCall] = []
        self._unattended: dict[str, tuple[str, frozenset[RequestId]]] = {}
        self._in_flight: dict[str, int] = {}
        self._unsubscribe = events.subscribe("approvers.changed", self._end_revoked)

    async def call_tool(
        self, caller: Caller, tool: RegisteredTool, arguments: dict[str, Any], tell: CallReporter, inputs: Inputs
    ) -> CallOutcome:
        """Run one call.

        If this is cancelled because the client cancelled its request or has ended, the call ends. If only the
        connection was lost, the call continues, and an equal one gets its result.

        Raises:
            ToolError: `too_many_calls`.
        """
        answer_by = asyncio.get_running_loop().time() + _limit_s(caller, tell)
        request = _ClientCall(caller, tool, arguments, tell, inputs, answer_by)
        left = self._claim_detached_call(request)
        if left is not None:
            return await self._carry_out(request, left)
        self._reserve_slot(caller)
        try:
            return await self._carry_out(request)
        finally:
            if request.left is None:
                self._release_slot(caller)
            else:
                # a detached call counts against the client's limit until it has ended
                request.left.work.add_done_callback(lambda _: self._release_slot(caller))

    async def _carry_out(self, wish: _ClientCall, left: _DetachedCall | None = None) -> CallOutcome:
        if left is not None:
            outcome = await self._await_outcome(wish, left.work)
        elif (call_id := self._find_unattended_call(wish)) is not None:
            return await self._after_decision(wish, call_id)
        else:
            outcome = await self._run_call(wish)
        if outcome.error is None or outcome.error.type != "approval_required" or wish.left is not None:
            return outcome
        wish.repair_arguments()
        return await self._after_decision(wish, outcome.call_id)

    async def cancel_request(self, session_id: str, request_id: RequestId) -> None:
        """End the detached calls of a request whose connection was lost, and which its client cancels now."""
        ended = [each for each in self._left if each.key.session_id == session_id and request_id in each.request_ids]
        await self._end_left(ended)
        for left in ended:
            await self._withdraw_asked(left.work)
        for call_id, (session, request_ids) in tuple(self._unattended.items()):
            if session == session_id and request_id in request_ids:
                del self._unattended[call_id]
                await self._withdraw_approval(call_id)

    async def end_session(self, session_id: str) -> None:
        """End the detached calls of a session that has ended."""
        # requests that were just ended detach their calls in the next iteration of the event loop
        await asyncio.sleep(0)
        await self._end_left([left for left in self._left if left.key.session_id == session_id])

    async def close(self) -> None:
        """End all detached calls; what ran is on record."""
        self._unsubscribe()
        await self._end_left(list(self._left))

    async def _end_left(self, ended: list[_DetachedCall]) -> None:
        works = [left.work for left in ended]
        self._left = [left for left in self._left if left not in ended]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    def _end_revoked(self, event: Event) -> None:
        """End the detached calls of a client whose key was revoked."""
        if event.data.get("outcome") == "approver_revoked":
            for left in self._left:
                if left.key.client == f"mcp:{event.data['name']}":
                    left.work.cancel()

    # -- joining equal calls -----------------------------------------------------------------------------------

    def _claim_detached_call(self, wish: _ClientCall) -> _DetachedCall | None:
        """Return an equal detached call, and remove it, so that it is joined only once; None if there is none."""
        if not self._left:
            return None
        wish.repair_arguments()
        key = wish.key
        left = next((left for left in self._left if left.key == key), None)
        if left is not None:
            self._left.remove(left)
        return left

    def _find_unattended_call(self, wish: _ClientCall) -> str | None:
        """Return the id of an equal call that waits for approval or was decided, and whose client has disconnected."""
        asked = [*self._approvals.waiting, *(request for request, _ in self._approvals.unused_verdicts)]
        if not asked:
            return None
        wish.repair_arguments()
        key = wish.key
        return next((each.call_id for each in asked if self._is_same(each, key)), None)

    def _is_same(self, request: ApprovalRequest, key: _Key) -> bool:
        if request.call_id in self._attended:
            return False
        made_by = (request.principal.name, request.session_id, request.definition.name)
        pending = self._approvals.find_pending(request.call_id)
        return made_by == key[:3] and pending is not None and pending.asked_digest == key.digest

    # -- waiting for approval ----------------------------------------------------------------------------------

    async def _after_decision(self, wish: _ClientCall, call_id: str) -> CallOutcome:
        """Wait for the user's decision as long as the client does, and run what was approved."""
        self._attended.add(call_id)
        self._unattended.pop(call_id, None)
        try:
            await wish.tell.mark_waiting(is_waiting=True)
            if not await self._is_decided(wish, call_id):
                return _waiting_outcome(wish.caller, call_id)
            await wish.tell.mark_waiting(is_waiting=False)
            return await self._run_call(wish, call_id)
        except asyncio.CancelledError:
            if wish.tell.departure == "cancelled":
                await self._withdraw_approval(call_id)
            elif wish.tell.departure == "lost":
                self._record_unattended(call_id, wish.caller.session_id, frozenset(wish.tell.request_ids))
            raise
        finally:
            self._attended.discard(call_id)

    def _record_unattended(self, call_id: str, session_id: str, request_ids: frozenset[RequestId]) -> None:
        """Store the ids by which a client may still cancel a waiting or decided call, while that exists."""
        find = self._approvals.find_pending
        self._unattended = {each: sent for each, sent in self._unattended.items() if find(each) is not None}
        if find(call_id) is not None:
            self._unattended[call_id] = (session_id, request_ids)

    async def _withdraw_approval(self, call_id: str) -> None:
        pending = self._approvals.find_pending(call_id)
        if pending is not None:
            await pending.withdraw()

    async def _withdraw_asked(self, work: asyncio.Task[CallOutcome]) -> None:
        """Withdraw the approval request with which a call ended that its client has cancelled."""
        if (call_id := _find_asked_call_id(work)) is not None:
            await self._withdraw_approval(call_id)

    async def _is_decided(self, wish: _ClientCall, call_id: str) -> bool:
        pending = self._approvals.find_pending(call_id)
        caller = wish.caller
        if pending is None or pending.is_decided:
            return True  # expired or withdrawn: running the call returns that
        clock = asyncio.get_running_loop().time
        with wish.inputs.show_approval(call_id, caller.approval_url):
            waiting = asyncio.ensure_future(pending.wait())
            try:
                while not waiting.done() and (left_s := wish.answer_by - clock()) > 0:
                    message = f"waiting for a person to decide at {caller.approval_url}"
                    await wish.tell.report_progress(None, message)
                    await asyncio.wait((waiting,), timeout=min(_TELL_SECONDS, left_s))
            finally:
                waiting.cancel()
        after = self._approvals.find_pending(call_id)
        return after is None or after.is_decided

    # -- running -----------------------------------------------------------------------------------------------

    async def _run_call(self, wish: _ClientCall, call_id: str | None = None) -> CallOutcome:
        """Run a new or a decided call, in its own task, which survives a lost connection."""
        caller = wish.caller
        request = CallRequest(
            wish.tool.definition.name,
            wish.arguments,
            caller.principal,
            session_id=caller.session_id,
            call_id=call_id,
            waits_for_approval=call_id is not None,
            inner_waits=True,
            mode=caller.config.mode,
            reader=ModelReader(may_call=caller.may_use_tool) if caller.is_model else None,
            asker=ClientAsker(wish.inputs),
        )
        late: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        notified = CallEventForwarder(wish.tell, lambda asked_id: self._answer_before_deadline(wish, asked_id, late))
        work = asyncio.create_task(self._run_in_core(request, notified.handle_call_event), name=f"mcp:{request.tool}")
        return await self._await_outcome(wish, work, late)

    def _answer_before_deadline(self, wish: _ClientCall, asked_id: str, late: "asyncio.Future[str]") -> None:
        """Answer the client at its deadline if a nested call waits for the user then."""

        def report_if_waiting() -> None:
            pending = self._approvals.find_pending(asked_id)
            if pending is not None and not pending.is_decided and not late.done():
                late.set_result(asked_id)

        asyncio.get_running_loop().call_at(wish.answer_by, report_if_waiting)

    async def _await_outcome(
        self, wish: _ClientCall, work: asyncio.Task[CallOutcome], late: "asyncio.Future[str] | None" = None
    ) -> CallOutcome:
        """Return the outcome of a call; if its client disconnects meanwhile, detach it for the next equal one."""
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future() if late is None else late

        def end(_: object) -> None:
            if not ended.done():
                ended.set_result("")

        work.add_done_callback(end)
        try:
            asked_id = await ended
        except asyncio.CancelledError:
            if wish.tell.departure == "lost":
                self._detach_call(wish, work, frozenset(wish.tell.request_ids))
            else:
                work.cancel()
                await asyncio.wait((work,))
                if wish.tell.departure == "cancelled":
                    await self._withdraw_asked(work)
            raise
        if work.done():
            return work.result()
        self._detach_call(wish, work, frozenset())
        return _waiting_outcome(wish.caller, asked_id, "a call that this one made waits for a person's approval")

    def _detach_call(
        self, wish: _ClientCall, work: asyncio.Task[CallOutcome], request_ids: frozenset[RequestId]
    ) -> None:
        """Keep a call whose client has disconnected or was answered, and its result for `RESULT_KEPT_SECONDS`."""
        wish.repair_arguments()
        left = wish.left = _DetachedCall(wish.key, work, request_ids)
        self._left.append(left)
        loop = asyncio.get_running_loop()

        def remove_expired() -> None:
            if left in self._left:
                self._left.remove(left)
                # its approval request stays pending for longer than its result is stored
                if (call_id := _find_asked_call_id(left.work)) is not None:
                    self._record_unattended(call_id, left.key.session_id, left.request_ids)

        def end(_: object) -> None:
            if not work.cancelled():
                work.exception()  # mark it as retrieved: no client may ever request it
            self._drop_oldest_results(left.key.client)
            loop.call_later(RESULT_KEPT_SECONDS, remove_expired)

        work.add_done_callback(end)

    def _drop_oldest_results(self, client: str) -> None:
        """Drop a client's detached results beyond its limits, the oldest first."""
        ended = [left for left in self._left if left.key.client == client and left.work.done()]
        for left in ended[: max(0, len(ended) - CLIENT_RESULTS_KEPT)]:
            self._left.remove(left)
            ended.remove(left)
        sizes = [left.size_bytes() for left in ended]
        size = sum(sizes)
        for left, dropped in zip(ended, sizes, strict=True):
            if size <= CLIENT_RESULTS_KEPT_BYTES:
                break
            if dropped:
                left.drop_result()
                size -= dropped

    @contextmanager
    def counted(self, caller: Caller) -> Iterator[None]:
        """Count the block as one of the concurrent calls of a client.

        Raises:
            ToolError: `too_many_calls`.
        """
        self._reserve_slot(caller)
        try:
            yield
        finally:
            self._release_slot(caller)

    def _reserve_slot(self, caller: Caller) -> None:
        """Reserve one of a client's concurrent calls; detached ones count while they run.

        Raises:
            ToolError: `too_many_calls`.
        """
        name = caller.principal.name
        limit = caller.config.calls_in_flight
        count = self._in_flight.get(name, 0)
        if count >= limit:
            message = f"{limit} calls of this client are on their way already; wait until some have ended"
            raise ToolError("too_many_calls", message, retryable=True, limit=limit)
        self._in_flight[name] = count + 1

    def _release_slot(self, caller: Caller) -> None:
        name = caller.principal.name
        self._in_flight[name] -= 1
        if not self._in_flight[name]:
            del self._in_flight[name]


async def _build_dropped_outcome(call_id: str) -> CallOutcome:
    message = (
        "the call has run, but its result is no longer stored: results of this client whose connections were lost "
        f"exceed {CLIENT_RESULTS_KEPT_BYTES:,} bytes. Check what the call did before you send it once more"
    )
    return CallOutcome(call_id, error=ToolError("result_dropped", message, limit_bytes=CLIENT_RESULTS_KEPT_BYTES))


def _size_of(outcome: CallOutcome) -> int:
    """Return the size in bytes of a result: the texts and bytes of its blocks, and its data."""
    if outcome.result is None:
        return 0
    parts = [part for block in outcome.result.blocks() for part in _texts_of(block)]
    return len(outcome.encoded_data) * _DATA_FACTOR + sum(map(len, parts))


def _texts_of(block: object) -> list[str | bytes]:
    values = [getattr(block, each.name) for each in fields(block)] if is_dataclass(block) else []
    return [value for value in values if isinstance(value, str | bytes)]


def _find_asked_call_id(work: asyncio.Task[CallOutcome]) -> str | None:
    """Return the id of the call if it ended by requesting approval; None if it runs, or ended otherwise."""
    if not work.done() or work.cancelled() or work.exception() is not None:
        return None
    outcome = work.result()
    return outcome.call_id if outcome.error is not None and outcome.error.type == "approval_required" else None


def _limit_s(caller: Caller, tell: CallReporter) -> float:
    """Return how long a call stays open: most clients without progress give up after a minute, so answer before."""
    asked = caller.narrowing
    is_patient = tell.receives_progress or asked.waits_silently
    return asked.wait_s if is_patient else min(asked.wait_s, MCP_WAIT_SECONDS)


def _waiting_outcome(caller: Caller, call_id: str, inner: str = "") -> CallOutcome:
    if inner:
        message = f"{inner}, at {caller.approval_url} – tell them. Send the same call again to get its result"
    else:
        message = (
            f"a person has to approve this call first, at {caller.approval_url} – tell them. It has not run. Once they "
            "have approved it, send the same call again, with the same arguments: it runs then, once"
        )
    context: dict[str, Any] = {"callId": call_id, "expiresAt": None}
    return CallOutcome(call_id, error=ToolError("approval_required", message, retryable=True, **context))
