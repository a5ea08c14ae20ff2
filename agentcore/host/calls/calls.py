"""The one path of a call, from whichever surface: route, validate, resolve, preview, permit, queue, execute, settle."""

import asyncio
import hashlib
import itertools
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import structlog

from agentcore.api.context import Principal
from agentcore.api.result import ArtifactLink, ToolResult
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.approvals.request import ApprovalRequest
from agentcore.host.calls.arguments import read_arguments
from agentcore.host.calls.call import Call, CallOutcome, CallRequest, Notify
from agentcore.host.calls.context import CallContext
from agentcore.host.calls.errors import CallTimeout, ModuleError, cancelled, defect, read_error
from agentcore.host.calls.inspection import facts_of, preview_call, touched
from agentcore.host.calls.permission import Permission, refused
from agentcore.host.calls.resolving import resolve
from agentcore.host.calls.resource_events import resource_of, tell_end
from agentcore.host.calls.results import cap, fits, to_result
from agentcore.host.containment.containment import Contained
from agentcore.host.containment.ownership import CALL, OWNER
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.parts import Parts
from agentcore.host.policy.approval_policy import OWN_CALL
from agentcore.host.policy.authority import PERSONS, authorise
from agentcore.limits import CALL_NESTING
from agentcore.net.url_pattern import host_of
from agentcore.store import CallRow
from agentcore.store.state.errors import RecordWriteError

log = structlog.get_logger(__name__)

_Made = tuple[ToolResult, bytes]
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Calls:
    """Takes calls and sees each through to its end. Holds no knowledge of HTTP, of models, or of any module."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._limits = parts.config.limits
        self._permission = Permission(parts.approvals, parts.policy)
        self.in_flight: dict[str, Call] = {}
        self.counts: dict[str, int] = {}
        self.stopped: str | None = None
        self._boot = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._watchers: list[asyncio.Future[None]] = []

    async def call(self, request: CallRequest, notify: Notify | None = None) -> CallOutcome:
        """Carry out one call; every failure is an outcome, none is raised.

        Args:
            request: What is wanted, and by whom.
            notify: Told of `accepted` (the id to cancel it by), `decided`, `progress`, `approval` on the way.
        """
        call = self.begin(request, notify)
        try:
            if self._parts.store.record.is_full:
                await self._parts.store.record.drain()
            self._admit(call)
            call.work = Contained(self._run(call), f"call:{request.tool}")
            outcome = await call.work.wait()
        except ToolError as exc:
            # what ends a call from outside, such as a cancellation, is the host's own word
            outcome = CallOutcome(call.id, error=exc, is_untrusted=isinstance(exc, ModuleError) and exc.untrusted)
        except RecordWriteError as exc:
            outcome = CallOutcome(call.id, error=exc.as_tool_error())
        except asyncio.CancelledError:
            call.is_cancelled = True  # a thread that works on it looks here
            self._finish(call, CallOutcome(call.id, error=cancelled()))
            raise
        except BaseException as exc:  # noqa: BLE001 - the border between host and module
            outcome = CallOutcome(call.id, error=defect(call, exc))
        outcome.resource_id = resource_of(call, outcome, self._parts.resources)
        outcome.edited_arguments = call.edited_arguments
        if call.approval is not None and call.row is None:
            await call.approval.forget()
        self._finish(call, outcome)
        return outcome

    async def call_nested(self, parent: Call, tool: str, arguments: dict[str, Any]) -> CallOutcome:
        """A call from inside another one: the same gate, the same principal and session, the parent's deadline."""
        request = parent.request
        nested = CallRequest(
            tool,
            arguments,
            request.principal,
            session_id=parent.session_id,
            parent_call_id=parent.id,
            waits_for_approval=request.waits_for_approval,
            agent_id=request.agent_id,
            mode=request.mode,
        )
        outcome = await self.call(nested, parent.notify)
        parent.has_read_untrusted |= outcome.is_untrusted
        return outcome

    def cancel(self, call_id: str, by: Principal) -> None:
        """End a call that is on its way; it gets `cancelled`.

        Raises:
            ToolError: `call_not_found`; `forbidden` when it is somebody else's and `by` is no person.
        """
        call = self.in_flight.get(call_id)
        if call is None or (by.kind not in PERSONS and call.request.principal != by):
            raise ToolError("call_not_found", f"no call {call_id!r} is on its way; it may have ended", call_id=call_id)
        self.cut(call, cancelled())

    def cut(self, call: Call, error: ToolError) -> None:
        """End one call with an error."""
        call.is_cancelled = True
        if call.work is not None:
            call.work.cut(error)

    def cut_all(self, error: ToolError) -> int:
        """End all calls with an error; gives how many there were."""
        calls = list(self.in_flight.values())
        for call in calls:
            self.cut(call, error)
        return len(calls)

    @contextmanager
    def paused(self, call: Call | None) -> Iterator[None]:
        """Stop the clock of a call, and of those that made it, while a person is waited for."""
        loop, chain = asyncio.get_running_loop(), list(self._chain(call))
        began = loop.time()
        for each in chain:
            if each.work is not None:
                each.work.pause()
        try:
            yield
        finally:
            for each in chain:
                if each.work is not None and each.deadline:
                    each.deadline += loop.time() - began
                    each.work.go_on(each.deadline)

    def _chain(self, call: Call | None) -> Iterator[Call]:
        while call is not None:
            yield call
            call = self.in_flight.get(call.request.parent_call_id or "")

    async def end(self, call_ids: Collection[str], error: ToolError, grace_s: float) -> None:
        """Wait until calls have ended; cut with an error those that have not within the grace, and wait once more.

        Args:
            call_ids: Of calls in flight; looked at again while it is waited, so that it may shrink and grow.
        """
        if not await self._have_ended(call_ids, grace_s):
            for call_id in list(call_ids):
                self.cut(self.in_flight[call_id], error)
            await self._have_ended(call_ids, grace_s)

    async def _have_ended(self, call_ids: Collection[str], grace_s: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + grace_s
        while call_ids and (left := end - loop.time()) > 0:
            ended: asyncio.Future[None] = loop.create_future()
            self._watchers.append(ended)
            await asyncio.wait((ended,), timeout=left)
        return not call_ids

    # -- the steps ---------------------------------------------------------------------------------------------

    def begin(self, request: CallRequest, notify: Notify | None = None) -> Call:
        """A call that nothing has been looked at yet, with an id of its own."""
        principal = request.principal
        session_id = request.session_id or (f"{principal.kind}-{principal.id}" if principal.id else principal.kind)
        return Call(
            id=request.call_id or f"call_{self._boot}{next(self._numbers):08x}",
            request=request,
            session_id=session_id,
            started=time.perf_counter(),
            started_ms=time.time_ns() // 1_000_000,
            notify=notify,
        )

    def _admit(self, call: Call) -> None:
        request = call.request
        if self.stopped is not None:
            raise ToolError("stopped", self.stopped)
        if not _SESSION_ID.fullmatch(call.session_id):
            raise ToolError(
                "invalid_arguments", "session_id must match ^[A-Za-z0-9_-]{1,64}$", session_id=call.session_id[:100]
            )
        if request.timeout_ms is not None and request.timeout_ms <= 0:
            raise ToolError("invalid_arguments", "timeout_ms must be at least 1", timeout_ms=request.timeout_ms)
        waiting = None if request.call_id is None else self._parts.approvals.find(request.call_id)
        if request.call_id is not None and (waiting is None or waiting.request.principal != request.principal):
            raise ToolError(
                "approval_not_found",
                f"no call {request.call_id!r} waits for approval: it ran, was rejected or has expired; "
                "send it without call_id",
                call_id=request.call_id,
            )
        if call.id in self.in_flight:
            raise ToolError("call_in_flight", f"call {call.id!r} is on its way already", call_id=call.id)
        limit = self._limits.calls_in_flight
        if len(self.in_flight) >= limit:
            raise ToolError("too_many_calls", f"{limit} calls are on their way; try again", retryable=True, limit=limit)
        if request.parent_call_id is not None:
            self._inherit(call, request.parent_call_id)
        self.in_flight[call.id] = call
        if call.notify is not None and not call.is_notified_by_parent:
            call.notify("accepted", {"callId": call.id})

    def _inherit(self, call: Call, parent_id: str) -> None:
        parent = self.in_flight.get(parent_id)
        if parent is None:
            raise ToolError("cancelled", f"the call {parent_id!r} that made this one has ended")
        call.depth, call.deadline = parent.depth + 1, parent.deadline
        call.is_notified_by_parent = call.notify is parent.notify
        call.holds = parent.holds | ({parent.resource.resource_id} if parent.resource else set())
        if call.depth > CALL_NESTING:
            raise ToolError(
                "nesting_too_deep", f"tools call tools {CALL_NESTING} deep; that is the bound", limit=CALL_NESTING
            )

    async def _run(self, call: Call) -> CallOutcome:
        try:
            authorise(call.request.principal, "call")
            tool = call.tool = self._parts.registry.get(call.request.tool)
            read_arguments(call, tool)
            use = tool.definition.resource
            if use is not None:
                call.resource = resolve(call, tool, use, self._parts.resources)
            context = CallContext(call, self, self._parts)
            call.preview = await preview_call(call, tool, context)
            shown = await self._permit(call, tool)
            self._arm(call, tool)
            if call.resource is not None:
                self._parts.resources.begin(call.resource)
            if use is None or call.resource is None or use.skip_queue or call.resource.resource_id in call.holds:
                return await self._enter(call, tool, context, shown)
            async with self._parts.resources.turn(call.resource.resource_id):
                return await self._enter(call, tool, context, shown)
        except ModuleError as exc:
            # what calls inside of it have read, they have noted
            if exc.untrusted and not call.is_of_person and not call.has_read_untrusted:
                await self._note_source(call)
            raise

    async def _permit(self, call: Call, tool: RegisteredTool) -> ApprovalRequest | None:
        """Let a call pass that may run, or have a person approve it; gives what was approved.

        Raises:
            ToolError: `approval_required`, `approval_denied`.
        """
        policy = self._parts.policy
        call.policy_version = policy.version
        # what a person was asked about is theirs to decide, whatever has been allowed since
        is_asked = call.request.call_id is not None
        if not is_asked and policy.lets_own_call_pass(call.request.principal, call.preview):
            call.decision, call.decided_by = OWN_CALL, OWN_CALL.by
            call.tell_decision(asks=False)
            return None
        facts = await facts_of(call, tool, self._parts)
        call.decision = policy.decide(facts)
        if call.decision.kind == "allow" and not is_asked:
            call.decided_by = call.decision.by
            call.tell_decision(asks=False)
            return None
        if call.decision.kind == "ask" and not policy.looks_at_paths:
            facts = await facts_of(
                call, tool, self._parts, with_paths=True
            )  # they say what may be offered along with it
        if call.decision.kind != "deny" and not is_asked:
            call.tell_decision(asks=True)
        with self.paused(self.in_flight.get(call.request.parent_call_id or "")):
            shown = await self._permission.ask(call, tool, facts)
        if shown.arguments_digest != call.digest:
            self._take_edited(call, tool, shown)
        return shown

    def _take_edited(self, call: Call, tool: RegisteredTool, shown: ApprovalRequest) -> None:
        """Go on with the arguments as the person who approved the call has edited them."""
        call.request = replace(call.request, arguments=shown.arguments, resource_id=None)
        call.edited_arguments, call.preview = shown.arguments, shown.preview
        call.policy_version = None  # what was decided was about other arguments
        read_arguments(call, tool)
        if tool.definition.resource is not None:
            call.resource = resolve(call, tool, tool.definition.resource, self._parts.resources)

    async def _enter(
        self, call: Call, tool: RegisteredTool, context: CallContext, shown: ApprovalRequest | None
    ) -> CallOutcome:
        """Look once more, at the last moment, whether the call may run, and run it."""
        if self._parts.registry.tools.get(tool.definition.name) is not tool:
            self._parts.registry.get(tool.definition.name)  # says what became of it
            raise ToolError(
                "module_stopping", f"tool {call.request.tool!r} changed meanwhile; try again", retryable=True
            )
        if call.policy_version != self._parts.policy.version:
            await self._decide_again(call, tool, is_approved=shown is not None)
        if shown is not None:
            await self._check_again(call, tool, context, shown)
        if not call.is_of_person and tool.definition.annotations.open_world:
            # before it runs: what comes back may be read while the call still goes on
            await self._note_source(call)
        call.row = _row(call, "executing")
        if call.approval is not None:
            # one that outlives this process could be sent again after a power cut, and run twice
            await self._parts.store.record.begin_committed(call.row, is_durable=call.approval.is_kept)
        else:
            self._parts.store.record.begin(call.row)
        return await self._execute(call, tool, context)

    async def _decide_again(self, call: Call, tool: RegisteredTool, *, is_approved: bool) -> None:
        """Hold the call against the policy as it is now."""
        decision = self._parts.policy.decide(await facts_of(call, tool, self._parts))
        if decision.kind == "deny":
            raise refused(decision)
        if decision.kind == "ask" and not is_approved:
            raise ToolError(
                "approval_denied",
                f"what is allowed changed while the call waited for its turn ({decision.reason}); send it again",
                retryable=True,
            )

    async def _check_again(
        self, call: Call, tool: RegisteredTool, context: CallContext, shown: ApprovalRequest
    ) -> None:
        """See that what runs now is what the person approved: arguments, resource, and what they would touch."""
        if hashlib.sha256(to_json(call.request.arguments)).hexdigest() != shown.arguments_digest:
            raise ToolError("approval_denied", "the arguments changed while the call waited; send it again")
        if (call.resource and call.resource.resource_id) != shown.resource_id:
            raise ToolError("approval_denied", "the call would act on something else than was approved; send it again")
        call.arguments = tool.validate(call.request.arguments)
        if shown.preview is None:
            return
        preview = await preview_call(call, tool, context)
        if preview is None or touched(preview) != touched(shown.preview):
            raise ToolError("approval_denied", "what the call would touch changed while it waited; send it again")

    async def _note_source(self, call: Call) -> None:
        """Remember that a model reads what nobody vouches for."""
        hosts = {host for url in (call.preview.urls if call.preview else ()) if (host := host_of(url))}
        for name in sorted(hosts) or [call.request.tool]:
            await self._parts.policy.note_source(call.session_id, name)

    # -- running -----------------------------------------------------------------------------------------------

    def _arm(self, call: Call, tool: RegisteredTool) -> None:
        """Start the one deadline that covers queue and execution, but not the waiting for a person."""
        asked = call.request.timeout_ms
        limit_s = min(tool.definition.timeout_s if asked is None else asked / 1000, self._limits.call_timeout_max)
        deadline = asyncio.get_running_loop().time() + limit_s
        parent = self.in_flight.get(call.request.parent_call_id or "")
        call.deadline = min(deadline, parent.deadline) if parent is not None and parent.deadline else deadline
        assert call.work is not None  # noqa: S101 - this runs inside of it
        call.work.cut_at(call.deadline, CallTimeout(limit_s))

    async def _execute(self, call: Call, tool: RegisteredTool, context: CallContext) -> CallOutcome:
        module, name = tool.module, tool.definition.name
        self._parts.events.publish(
            "call.started", {"callId": call.id, "tool": name, "module": module.name}, session_id=call.session_id
        )
        module.calls.add(call.id)
        impl = module.hooks["execute_tool_call"]
        values = {"ctx": context, "tool_name": name, "args": call.arguments}
        arguments = [values[key] for key in impl.argnames]
        OWNER.set(module.name)
        CALL.set(call.id)
        try:
            if module.executes_async:
                result, encoded = to_result(await impl.function(*arguments))
            else:
                made: _Made | Awaitable[Any] = await asyncio.to_thread(_make_in_thread, impl.function, arguments)
                result, encoded = made if isinstance(made, tuple) else to_result(await made)
            if tool.check_result is not None:
                tool.check_result(encoded)
        except ToolError as exc:
            raise read_error(call, exc) from exc
        return await self._settle(call, tool, result, encoded)

    async def _settle(self, call: Call, tool: RegisteredTool, result: ToolResult, encoded: bytes) -> CallOutcome:
        if result.untrusted and not call.is_of_person:
            await self._note_source(call)
        limit = tool.definition.limit_bytes or self._limits.result_bytes
        if not fits(result, encoded, limit):

            async def save(data: bytes, mime: str, name: str) -> ArtifactLink:
                return await self._parts.store.artifacts.save(
                    data, mime=mime, name=name, session_id=call.session_id, call_id=call.id
                )

            result = await cap(result, encoded, limit, save)
        is_untrusted = result.untrusted or call.is_of_open_world
        return CallOutcome(call.id, result=result, encoded_data=encoded, is_untrusted=is_untrusted)

    def _finish(self, call: Call, outcome: CallOutcome) -> None:
        if self.in_flight.get(call.id) is call:
            del self.in_flight[call.id]
        tool = call.tool
        if has_run := tool is not None and call.id in tool.module.calls:
            tool.module.calls.remove(call.id)
        if call.resource is not None:
            self._parts.resources.settle(call.resource, is_used=outcome.ok)
        while self._watchers:
            _wake(self._watchers.pop())
        said = "ok" if outcome.error is None else outcome.error.type
        self.counts[said] = self.counts.get(said, 0) + 1
        duration_ms = round((time.perf_counter() - call.started) * 1000, 3)
        if has_run:
            tell_end(call, outcome, duration_ms, self._parts.resources)
        row = (
            _row(call, said, duration_ms)
            if call.row is None
            else call.row._replace(outcome=said, duration_ms=duration_ms)
        )
        self._parts.store.record.append(row)
        self._parts.events.publish(
            "call.finished",
            {"callId": call.id, "tool": row.tool, "module": row.module, "outcome": said, "durationMs": row.duration_ms},
            session_id=call.session_id,
        )
        log.info(
            "call_finished",
            call_id=call.id,
            tool=row.tool,
            module=row.module,
            session_id=call.session_id,
            outcome=said,
            duration_ms=row.duration_ms,
        )


def _make_in_thread(function: Callable[..., Any], arguments: list[Any]) -> _Made | Awaitable[Any]:
    """Run a sync implementation, and read what it gives in the same thread; a coroutine is for the event loop."""
    returned = function(*arguments)
    return returned if asyncio.iscoroutine(returned) else to_result(returned)


def _wake(watcher: asyncio.Future[None]) -> None:
    if not watcher.done():
        watcher.set_result(None)


def _row(call: Call, outcome: str, duration_ms: float | None = None) -> CallRow:
    request = call.request
    return CallRow(
        call_id=call.id,
        parent_call_id=request.parent_call_id,
        time_ms=call.started_ms,
        tool=request.tool[:64],
        module=call.tool.module.name if call.tool is not None else "",
        session_id=call.session_id[:64],
        principal_kind=request.principal.kind,
        principal_id=request.principal.id,
        arguments=call.shown_arguments,
        arguments_digest=call.digest,
        decision=call.decision.kind if call.decision is not None else "",
        decided_by=call.decided_by,
        outcome=outcome,
        duration_ms=duration_ms,
        resource_id=call.resource.resource_id if call.resource is not None else None,
    )
