"""Which resource a call acts on: the one that it names, the session's default, or one that is there once it runs."""

from agentcore.api.definition import ResourceUse
from agentcore.api.resource import Resource
from agentcore.errors import ToolError
from agentcore.host.calls.call import Call
from agentcore.host.calls.errors import unreachable
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.resources.registry import ResourceRegistry


def resolve(
    call: Call, tool: RegisteredTool, use: ResourceUse, known: ResourceRegistry, *, may_create: bool = True
) -> Resource | None:
    """The resource of a call; None: the session has none, and the tool makes none.

    Args:
        call: The call, with its arguments read.
        tool: Its tool.
        use: How the tool uses resources.
        known: All resources.
        may_create: Whether one may be planned where the session has none.
    Raises:
        ToolError: `invalid_arguments`, `too_many_resources`, and what the tool says where the call cannot reach it.
    """
    named = call.request.arguments.get(use.argument)
    if call.request.resource_id is not None and use.key is None:
        if named is not None and named != call.request.resource_id:
            raise ToolError(
                "invalid_arguments",
                f"{use.argument} is {named!r}, but the call names {call.request.resource_id!r}; give one of them",
            )
        named = call.request.resource_id
    if named is not None:
        return _reach(call, use, named, known)
    own = known.list(session_id=call.session_id, resource_type=use.type)
    if own:
        return min(own, key=lambda resource: resource.index)
    return known.plan(tool.module.name, use.type, call.session_id) if use.create and may_create else None


def _reach(call: Call, use: ResourceUse, named: str, known: ResourceRegistry) -> Resource:
    """The resource of this id or key, if the call may reach it."""
    try:
        if use.key:
            resource = known.by_key(use.type, use.key, named)
        else:
            planned = known.planned(named) if use.create else None
            resource = planned or known.get(named)
    except ToolError as exc:
        if use.not_found == exc.type:
            raise
        raise unreachable(call, use, named) from exc
    if resource.resource_type != use.type or (not call.is_of_person and resource.session_id != call.session_id):
        raise unreachable(call, use, named)
    return resource
