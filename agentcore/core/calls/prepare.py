"""The first steps of a call: route, validate, resolve, preview. They find out what it would do, and do nothing."""

import hashlib
from typing import Any

from agentcore.api import CallPreview, Resource, ResourceUse
from agentcore.core.calls.call import Call, PreparedCall
from agentcore.core.calls.call_context import CallContext, CallServices
from agentcore.core.calls.call_errors import unreachable_resource_error
from agentcore.core.calls.preview import preview_call
from agentcore.core.calls.preview_limit import PreviewTurns
from agentcore.core.calls.routing import Routing
from agentcore.core.modules.module_record import RegisteredTool
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.core.modules.validation import DeferredArguments
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.limits import ARGUMENTS_RECORDED_CHARS
from agentcore.secrets import masked_json

_MODELS = frozenset(("chat", "mcp"))
"""Principals whose arguments a model writes; those of all others are not repaired."""


class Preparation:
    """Prepares calls, to run, review or explain them."""

    def __init__(self, registry: ToolRegistry, services: CallServices) -> None:
        self._services = services
        self._preview_turns = PreviewTurns()
        self._routing = Routing(registry, services.resources, services.conversation, services.places, services.events)

    async def prepare_call(self, call: Call, *, may_create: bool = True) -> PreparedCall:
        """Determine what a call would do.

        `call.prepared` is set as far as possible: the record of a call that fails shows what was known by then.

        Args:
            may_create: True if a resource may be planned when the session has none. It is created when the call begins.
        Raises:
            ToolError: Why the call cannot run; then the user is not asked about it.
        """
        request = call.request
        find_tool = self._routing.wait_for_tool if may_create else self._routing.tool_of
        tool = await find_tool(call, request.arguments, request.resource_id)
        placed = tool.module.placed
        if placed is not None and placed.is_away and may_create:
            # before approval: its machine may be back at once, and it alone knows what the call would do
            await placed.wait_until_there(_limit_s(call, tool))
            # its program may have been restarted meanwhile, and its modules with it
            tool = await self._routing.tool_of(call, request.arguments, request.resource_id)
            placed = tool.module.placed
        if request.principal.kind == "host" and tool.definition.needs_chat:
            self._routing.check_chats(request.principal.id, tool)
        if request.principal.kind in _MODELS:
            # before the digest is computed: what the user approves is what runs, also when it is sent again
            request.names_note = request.names_note or tool.schema.describe_aliases(request.arguments)
            request.arguments = tool.schema.repair_arguments(request.arguments)
        prepared = self._read_arguments(call, tool, request.arguments, request.resource_id, may_create=may_create)
        if placed is not None and placed.is_draining and not self._is_living(prepared.resource):
            message = (
                f"host {tool.module.host!r} is draining and accepts no new work; "
                "use another host, or a resource that is already open on it"
            )
            raise ToolError("host_draining", message, host=tool.module.host)
        if not tool.looks_first and type(prepared.arguments) is not DeferredArguments:
            return prepared
        preview = await self.run_preview(call, prepared)
        call.prepared = prepared = prepared._replace(preview=preview)
        return prepared

    def _is_living(self, resource: Resource | None) -> bool:
        return resource is not None and self._services.resources.owner_of(resource.resource_id) is not None

    async def tool_now(self, call: Call, prepared: PreparedCall) -> RegisteredTool:
        """Return the tool that a prepared call would use now.

        Raises:
            ToolError: Why the tool is not available any more.
        """
        # arguments that the user has edited name the resource themselves
        named = call.request.resource_id if call.edited_arguments is None else None
        return await self._routing.tool_of(call, prepared.given, named)

    async def run_preview(self, call: Call, prepared: PreparedCall) -> CallPreview | None:
        """Run the tool's preview of these arguments now; None: it has no preview.

        Raises:
            ToolError: The call cannot run.
        """
        return await preview_call(call, prepared, CallContext(call, self._services), self._preview_turns)

    def replace_arguments(self, call: Call, prepared: PreparedCall, given: dict[str, Any]) -> PreparedCall:
        """Return the call with arguments that the user has edited; they override the resource that the caller named.

        Raises:
            ToolError: `invalid_arguments`, or why their resource cannot be reached.
        """
        return self._read_arguments(call, prepared.tool, given, None, may_create=True)

    def _read_arguments(
        self,
        call: Call,
        tool: RegisteredTool,
        given: dict[str, Any],
        resource_id: str | None,
        *,
        may_create: bool,
    ) -> PreparedCall:
        encoded = to_json(given)
        digest = hashlib.sha256(encoded).hexdigest()
        shown = masked_json(encoded.decode(), ARGUMENTS_RECORDED_CHARS)
        resource = call.resource
        try:
            arguments = tool.validate(given)
            use = tool.definition.resource
            if use is not None:
                resource = self._resolve_resource(
                    call, tool, use, given.get(use.argument), resource_id, may_create=may_create
                )
        except BaseException:
            # the record shows what was wrong with them
            call.prepared = PreparedCall(tool, given, given, digest, shown, resource)
            raise
        call.prepared = prepared = PreparedCall(tool, given, arguments, digest, shown, resource)
        return prepared

    def _resolve_resource(
        self,
        call: Call,
        tool: RegisteredTool,
        use: ResourceUse,
        named: Any,
        resource_id: str | None,
        *,
        may_create: bool,
    ) -> Resource | None:
        """The resource that a call names, the session's default, or one that is there once it runs; None: none."""
        if resource_id is not None and use.key is None:
            if named is not None and named != resource_id:
                raise ToolError(
                    "invalid_arguments",
                    f"{use.argument} is {named!r}, but the call names {resource_id!r}; give one of them",
                )
            named = resource_id
        if named is not None:
            return self._find_resource(call, tool, use, named)
        resources = self._services.resources
        own = resources.list(session_id=call.session_id, resource_type=use.type, host=tool.module.host)
        if own:
            return min(own, key=lambda resource: resource.index)
        return (
            resources.plan_resource(tool.module.name, use.type, call.session_id) if use.create and may_create else None
        )

    def _find_resource(self, call: Call, tool: RegisteredTool, use: ResourceUse, named: str) -> Resource:
        """Return the resource of this id or key, if the call may reach it and its tool is that of the resource's
        host."""
        resources = self._services.resources
        try:
            if use.key:
                resource = resources.by_key(use.type, use.key, named, tool.module.host)
            else:
                planned = resources.find_planned_resource(named) if use.create else None
                short = resources.find_by_short_id(call.session_id, use.type, named)
                resource = planned or short or resources.get(named)
        except ToolError as exc:
            reason = resources.why_gone(use.type, use.key, named, None if call.is_made_by_user else call.session_id)
            if use.not_found == exc.type and not reason:
                raise
            raise unreachable_resource_error(call, use, named, reason) from exc
        # others' resources are as if they were not
        if resource.resource_type != use.type or (not call.is_made_by_user and resource.session_id != call.session_id):
            raise unreachable_resource_error(call, use, named)
        if resources.host_of(resource.resource_id) != tool.module.host:
            message = f"{use.argument} {named!r} is on another host than the call; call the tool again with it"
            raise ToolError("invalid_arguments", message, resource_id=resource.resource_id)
        return resource


def _limit_s(call: Call, tool: RegisteredTool) -> float:
    """Return the time limit of a call, of its caller or its tool."""
    wanted_ms = call.request.timeout_ms
    return tool.definition.timeout_s if wanted_ms is None else wanted_ms / 1000
