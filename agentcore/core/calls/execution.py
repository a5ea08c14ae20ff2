"""The last steps of a permitted call: its queue slot, a final check, the record, the module, and its result."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

from agentcore.api import ArtifactLink, ToolResult
from agentcore.config.app_json import LimitsConfig
from agentcore.core.approvals.request import ApprovalRequest
from agentcore.core.calls.call import Call, CallOutcome, PreparedCall
from agentcore.core.calls.call_context import CallContext, CallServices
from agentcore.core.calls.call_errors import CallTimeout, on_other_host, read_error
from agentcore.core.calls.permission import Permission
from agentcore.core.calls.prepare import Preparation
from agentcore.core.calls.preview import approval_basis
from agentcore.core.calls.result_conversion import cap_result, fits_limits, to_result
from agentcore.core.calls.result_shortening import ArtifactReading, add_note, model_part
from agentcore.core.calls.settling import row_of
from agentcore.core.module_code.ownership import CALL, OWNER
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.encoding import to_json
from agentcore.errors import ToolError

_Made = tuple[ToolResult, bytes]

CarryOn = Callable[[CallContext], Awaitable[ToolResult]]
"""Waits for the end of a call where its module runs."""


class Execution:
    """Runs calls that were prepared and permitted."""

    def __init__(
        self,
        registry: ToolRegistry,
        preparation: Preparation,
        permission: Permission,
        services: CallServices,
        limits: LimitsConfig,
    ) -> None:
        self._registry = registry
        self._preparation = preparation
        self._permission = permission
        self._services = services
        self._limits = limits

    async def run(self, call: Call, prepared: PreparedCall) -> CallOutcome:
        """Wait for the turn of the call, and run it.

        Raises:
            ToolError: Why it did not run, or what the module ended it with.
        """
        self._set_deadline(call, prepared)
        use = prepared.tool.definition.resource
        resource = prepared.resource
        resources = self._services.resources
        if resource is None:
            return await self._recheck_and_run(call, prepared)
        resources.start_planned(resource)
        await resources.indexes.wait_until_saved()
        # a call that is made while its resource is locked by its parent would wait for itself
        if use is None or use.skip_queue or call.is_inside_turn_of(resource):
            return await self._recheck_and_run(call, prepared)
        async with resources.lock_resource(resource.resource_id):
            return await self._recheck_and_run(call, prepared)

    def _set_deadline(self, call: Call, prepared: PreparedCall) -> None:
        """Start the one deadline that covers queue and execution, but not the time of waiting for the user."""
        wanted_ms = call.request.timeout_ms
        limit_s = prepared.tool.definition.timeout_s if wanted_ms is None else wanted_ms / 1000
        limit_s = min(limit_s, self._limits.call_timeout_max)
        call.deadline = asyncio.get_running_loop().time() + limit_s
        if call.parent is not None and call.parent.deadline:
            call.deadline = min(call.deadline, call.parent.deadline)
        assert call.work is not None  # noqa: S101 - this runs inside of it
        call.work.cancel_at(call.deadline, CallTimeout(limit_s))

    async def _recheck_and_run(self, call: Call, prepared: PreparedCall) -> CallOutcome:
        """Check at the last moment whether the call may still run, and run it.

        Waiting may have taken long: meanwhile modules, rules, arguments and files may have changed.
        """
        ruling = call.ruling
        definition = prepared.tool.definition
        assert ruling is not None  # noqa: S101 - it was permitted
        now = await self._preparation.tool_now(call, prepared)
        if now.module.host != prepared.tool.module.host:
            is_approved = ruling.approval is not None
            raise on_other_host(now.module.host, prepared.tool.module.host, is_approved=is_approved)
        if not now.does_the_same_as(prepared.tool):
            raise ToolError("module_stopping", f"tool {definition.name!r} changed meanwhile; try again", retryable=True)
        await self._permission.decide_again(call, prepared, ruling)
        if ruling.approval is not None:
            # after the policy, and the last thing that is awaited before the record: nothing changes behind its back
            prepared = await self._check_again(call, prepared, ruling.approval.request)
        if now.module.manifest.runs_scripts_in_page:
            # before it runs: from its first line on, a script could act as the page
            await self._permission.record_page_script(prepared)
        if definition.annotations.open_world:
            # before it runs: its output may be read while it is still running
            await self._permission.record_untrusted_source(call)
        # noted before the module is entered: from here on an approval is used up, and a crash leaves a trace
        call.row = row_of(call, "executing")
        record = self._services.store.record
        placed = prepared.tool.module.placed
        if ruling.approval is None and (placed is None or not placed.survives_server):
            record.add_open_call(call.row)
        elif ruling.approval is None:
            # committed, because the call may continue without this server, and the next one knows it by the record
            # alone
            await record.commit_open_call(call.row, is_durable=False)
        else:
            # committed, or it could run twice; and one that survives this process could be sent again after a power
            # cut, so that its beginning has to be on the disk as well
            await record.commit_open_call(call.row, is_durable=ruling.approval.is_kept)
        return await self._execute_tool(call, prepared)

    async def _check_again(self, call: Call, prepared: PreparedCall, shown: ApprovalRequest) -> PreparedCall:
        """Check that exactly what the user approved runs now: arguments, resource, and what they would touch."""
        # checked once more too: the tool gets values that were read from just what was approved
        if hashlib.sha256(to_json(prepared.given)).hexdigest() != shown.arguments_digest:
            raise ToolError("approval_denied", "the arguments changed while the call waited; send it again")
        if (prepared.resource and prepared.resource.resource_id) != shown.resource_id:
            raise ToolError("approval_denied", "the call would act on something else than was approved; send it again")
        call.prepared = prepared = prepared._replace(arguments=prepared.tool.validate(prepared.given))
        if shown.preview is None:
            return prepared
        preview = await self._preparation.run_preview(call, prepared)
        if preview is None or approval_basis(preview) != approval_basis(shown.preview):
            message = (
                "it did not run: what it would touch is not what was approved any more, such as another page or text; "
                "look again, and make a call that fits what is there now"
            )
            raise ToolError("approval_denied", message)
        return prepared

    async def carry_on(self, call: Call, prepared: PreparedCall, end: CarryOn) -> CallOutcome:
        """Wait for a call that an earlier server began, and that its host is still running.

        Args:
            end: Waits for its end there; gets what the call may request of this server.
        Raises:
            ToolError: The error that ends it.
        """
        context = CallContext(call, self._services)
        prepared.tool.module.begin_call(call.id)
        try:
            made = to_result(await end(context))
            if prepared.tool.check_result is not None:
                prepared.tool.check_result(made[1], made[0].untrusted)
        except ToolError as exc:
            raise read_error(call, exc) from exc
        finally:
            context.end_progress()
        return await self._build_outcome(call, prepared, context, *made)

    async def _execute_tool(self, call: Call, prepared: PreparedCall) -> CallOutcome:
        tool = prepared.tool
        module = prepared.tool.module
        name = prepared.tool.definition.name
        self._services.events.publish(
            "call.started", {"callId": call.id, "tool": name, "module": module.name}, session_id=call.session_id
        )
        # before the module is entered: stopping it from now on ends this call first
        module.begin_call(call.id)
        impl = module.hooks["execute_tool_call"]
        context = CallContext(call, self._services)
        values = {"ctx": context, "tool_name": name, "args": prepared.arguments}
        arguments = [values[key] for key in impl.argnames]
        OWNER.set(module.name)
        CALL.set(call.id)
        try:
            if module.manifest.executes_async:
                result, encoded = to_result(await impl.function(*arguments))
            else:
                made: _Made | Awaitable[Any] = await asyncio.to_thread(_make_in_thread, impl.function, arguments)
                result, encoded = made if isinstance(made, tuple) else to_result(await made)
            if tool.check_result is not None:
                tool.check_result(encoded, result.untrusted)
        except ToolError as exc:
            raise read_error(call, exc) from exc
        finally:
            context.end_progress()
        return await self._build_outcome(call, prepared, context, result, encoded)

    async def _build_outcome(
        self, call: Call, prepared: PreparedCall, context: CallContext, result: ToolResult, encoded: bytes
    ) -> CallOutcome:
        """Convert a module's return value for the caller: the part that a model reads, within all limits."""
        tool = prepared.tool
        if result.untrusted or call.has_opened_untrusted:
            await self._permission.record_untrusted_source(call)
        if (reader := call.request.reader) is not None:
            reading = ArtifactReading(self._registry.tools_at(call.host), reader)
            result = await model_part(result, encoded, tool.definition, context.artifacts.save, reading)
            result = add_note(result, encoded, call.request.names_note)
        limit_bytes = tool.definition.limit_bytes or self._limits.result_bytes
        if not fits_limits(result, encoded, limit_bytes):
            result = await cap_result(result, encoded, limit_bytes, context.artifacts)
        is_untrusted = result.untrusted or call.is_of_open_world
        if result.untrusted and not call.is_of_open_world and any(isinstance(b, ArtifactLink) for b in result.blocks()):
            await self._services.store.artifacts.mark_untrusted(call.id)
        return CallOutcome(
            call.id,
            result=result,
            encoded_data=encoded,
            is_untrusted=is_untrusted,
            artifact_account=call.artifact_account,
        )


def _make_in_thread(function: Callable[..., Any], arguments: list[Any]) -> _Made | Awaitable[Any]:
    """Run a sync implementation, and read its result in the same thread; a coroutine is for the event loop."""
    returned = function(*arguments)
    return returned if asyncio.iscoroutine(returned) else to_result(returned)
