"""Looking at a call as the one path would, without running it: for explanations, and for arguments that were edited."""

from dataclasses import replace
from typing import Any

from agentcore.errors import ToolError
from agentcore.host.approvals.request import ApprovalRequest
from agentcore.host.calls.arguments import read_arguments
from agentcore.host.calls.call import Call, CallRequest
from agentcore.host.calls.calls import Calls
from agentcore.host.calls.context import CallContext
from agentcore.host.calls.inspection import facts_of, preview_call
from agentcore.host.calls.permission import refused
from agentcore.host.calls.resolving import resolve
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.parts import Parts
from agentcore.host.policy.offers import offers_for
from agentcore.rules.call_facts import CallFacts


class CallReview:
    """Tells what a call would be. Nothing runs, nothing is made, nothing is recorded."""

    def __init__(self, calls: Calls, parts: Parts) -> None:
        self._calls, self._parts = calls, parts

    async def inspect(self, request: CallRequest) -> CallFacts:
        """What the policy would look at if this were called now.

        Raises:
            ToolError: Why it could not run.
        """
        call, tool = await self._look(request)
        return await facts_of(call, tool, self._parts, with_paths=True)

    async def edit(self, call_id: str, arguments: dict[str, Any]) -> ApprovalRequest:
        """What a call that waits would be with arguments of a person: checked as any, and ready to be shown.

        The call goes on waiting as it was asked for; a verdict with the digest of what this gives runs it so.

        Raises:
            ToolError: `approval_not_found`; or why the call cannot run with them.
        """
        pending = self._parts.approvals.undecided(call_id)
        edited = await self._edited(pending.request, arguments)
        pending.add_edit(edited)
        return edited

    async def _edited(self, request: ApprovalRequest, arguments: dict[str, Any]) -> ApprovalRequest:
        edited_call = CallRequest(
            request.definition.name,
            arguments,
            request.principal,
            request.session_id,
            agent_id=request.agent_id,
            mode=request.mode,
        )
        call, tool = await self._look(edited_call)
        if tool.definition != request.definition:
            raise ToolError("approval_denied", "the tool changed while the call waited; it has to be called again")
        facts = await facts_of(call, tool, self._parts, with_paths=True)
        decision = self._parts.policy.decide(facts)
        if decision.kind == "deny":
            raise refused(decision)
        if decision.kind == "ask":
            request = replace(
                request, reason=decision.reason, rule=decision.by, untrusted_source=decision.untrusted_source
            )
        resource_id = call.resource.resource_id if call.resource else None
        if resource_id is None and tool.definition.resource is not None:
            resource_id = request.resource_id
        return replace(
            request,
            arguments=arguments,
            arguments_digest=call.digest,
            preview=call.preview,
            offers=offers_for(facts, decision, self._parts.policy.roots) if decision.kind == "ask" else (),
            resource_id=resource_id,
        )

    async def _look(self, request: CallRequest) -> tuple[Call, RegisteredTool]:
        call = self._calls.begin(request)
        tool = call.tool = self._parts.registry.get(request.tool)
        read_arguments(call, tool)
        use = tool.definition.resource
        if use is not None:
            call.resource = resolve(call, tool, use, self._parts.resources, may_create=False)
        call.preview = await preview_call(call, tool, CallContext(call, self._calls, self._parts))
        return call, tool
