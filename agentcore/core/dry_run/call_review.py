"""Looking at a call as the one path would, without running it: for explanations, and for arguments that were edited."""

import asyncio
from dataclasses import replace
from typing import Any

import structlog

from agentcore.api import CallPreview
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.pending_approval import PendingApproval, now_ms
from agentcore.core.approvals.request import ApprovalRequest, Changed
from agentcore.core.calls.call import Call, CallRequest
from agentcore.core.calls.call_errors import on_other_host
from agentcore.core.calls.permission import Permission, refused_by_policy
from agentcore.core.calls.prepare import Preparation
from agentcore.core.calls.preview import approval_basis
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.authority import Decision
from agentcore.core.policy.grant_offers import offers_for
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError

log = structlog.get_logger(__name__)


class CallReview:
    """Determines what a call would do. Nothing runs, nothing is created, nothing is recorded."""

    def __init__(
        self,
        preparation: Preparation,
        permission: Permission,
        policy: ApprovalPolicy,
        approvals: ApprovalQueue,
        resources: ResourceRegistry,
    ) -> None:
        self._preparation = preparation
        self._permission = permission
        self._policy = policy
        self._approvals = approvals
        self._resources = resources

    async def inspect_call(self, request: CallRequest) -> CallFacts:
        """Return the facts that the policy would check if this were called now.

        Raises:
            ToolError: Why it could not run.
        """
        call = Call.from_request(request)
        prepared = await self._preparation.prepare_call(call, may_create=False)
        return await self._permission.facts_of(call, prepared, with_paths=True)

    async def edit_call(self, call_id: str, arguments: dict[str, Any]) -> ApprovalRequest:
        """Return a waiting call with arguments that the user has edited: validated as usual, and ready to be shown.

        The call keeps waiting unchanged; a verdict with the digest of the returned request runs the edited one.

        Raises:
            ToolError: `approval_not_found`; or why the call cannot run with them.
        """
        pending = self._approvals.find_undecided(call_id)
        edited = await self._build_edited(pending.request, arguments)
        pending.add_edit(edited)
        return edited

    async def recheck_call(self, request: ApprovalRequest) -> ApprovalRequest:
        """A call that waits as it would be now; its `changes` name what is different from what was shown.

        Raises:
            ToolError: Why it could not run now.
        """
        now, decision = await self._look_again(request)
        if decision.kind == "deny":
            raise refused_by_policy(decision)
        return now

    async def decide_waiting_calls(self, session_id: str | None = None) -> None:
        """Decide calls that wait once more, because the mode that applies to them has changed.

        Those that the policy now allows run, those that it refuses end, and the others keep waiting.

        Args:
            session_id: The session; None: all sessions.
        """
        async with asyncio.TaskGroup() as group:
            for pending in self._approvals.find_waiting_in(session_id):
                group.create_task(self._decide_waiting_call(pending))

    async def _decide_waiting_call(self, pending: PendingApproval) -> None:
        await pending.wait_until_announced()
        asked = pending.request
        try:
            now, decision = await self._look_again(asked)
            # the user has changed the mode, and needs no note that the reason to ask is another one
            changes = tuple(change for change in now.changes if change != "rules")
            now = replace(now, changes=changes or asked.changes)
            await self._approvals.apply_policy(pending, asked, now, decision)
        except ToolError as exc:
            # it keeps waiting: whoever decides on it gets this error, or it is gone
            log.info("waiting_call_unchanged", call_id=asked.call_id, error=exc.type)

    async def _look_again(self, request: ApprovalRequest) -> tuple[ApprovalRequest, Decision]:
        """Return a call that waits as it would be now, and the policy's decision about it.

        Raises:
            ToolError: Why it could not run now.
        """
        tool = request.definition.name
        principal = request.principal
        session_id = request.session_id
        resource_id = request.resource_id
        # None: it has ended, or a call before a restart had planned it
        is_there = resource_id is None or self._resources.host_of(resource_id) is not None
        again = CallRequest(
            tool,
            request.arguments,
            principal,
            session_id,
            resource_id if is_there else None,
            agent_id=request.agent_id,
            mode=self._mode_of(request),
            host=request.host,
        )
        call = Call.from_request(again)
        prepared = await self._preparation.prepare_call(call, may_create=False)
        if not is_there and prepared.resource is not None:
            # the call is refused when it runs: nothing replaces its target
            return replace(request, changes=()), Decision("ask", request.rule, request.reason)
        definition = prepared.tool.definition
        if (host := prepared.tool.module.host) != request.host:
            raise on_other_host(host, request.host, is_approved=True)
        is_same_tool = definition.acts_like(request.definition)
        if is_same_tool and prepared.digest != request.arguments_digest:
            raise ToolError("approval_denied", "the arguments changed while the call waited; send it again")
        facts = await self._permission.facts_of(call, prepared, with_paths=True)
        decision = self._policy.decide(facts)
        request = replace(request, mode=facts.mode)
        changes: dict[Changed, bool] = {
            "tool": not is_same_tool,
            "target": _preview_basis(prepared.preview) != _preview_basis(request.preview),
            "rules": decision.kind == "ask" and _ask_basis(decision) != (request.rule, request.untrusted_source),
        }
        found = tuple(change for change, is_found in changes.items() if is_found)
        if not found:
            return replace(request, changes=()), decision
        if decision.kind == "ask":
            request = replace(
                request, reason=decision.reason, rule=decision.by, untrusted_source=decision.untrusted_source
            )
        now = replace(
            request,
            definition=definition,
            arguments=prepared.given,
            arguments_digest=prepared.digest,
            preview=prepared.preview,
            offers=offers_for(facts, decision, self._policy.roots) if decision.kind == "ask" else (),
            changes=found,
            # an untrusted source that is named from now on is one that the decision covers
            requested_at_ms=now_ms(),
        )
        return now, decision

    def _mode_of(self, request: ApprovalRequest) -> ApprovalMode | None:
        """Return the mode of a call that waits; None: that of its chat, which may have changed since it was asked
        about."""
        is_of_chat = self._policy.find_session_mode(request.session_id, request.principal.kind) is not None
        return None if is_of_chat else request.mode

    async def _build_edited(self, request: ApprovalRequest, arguments: dict[str, Any]) -> ApprovalRequest:
        tool = request.definition.name
        principal = request.principal
        session_id = request.session_id
        agent_id = request.agent_id
        mode = self._mode_of(request)
        call = Call.from_request(
            CallRequest(tool, arguments, principal, session_id, agent_id=agent_id, mode=mode, host=request.host)
        )
        prepared = await self._preparation.prepare_call(call, may_create=False)
        if (host := prepared.tool.module.host) != request.host:
            raise on_other_host(host, request.host, is_approved=True)
        definition = prepared.tool.definition
        if definition != request.definition:
            raise ToolError("approval_denied", "the tool changed while the call waited; it has to be called again")
        facts = await self._permission.facts_of(call, prepared, with_paths=True)
        decision = self._policy.decide(facts)
        if decision.kind == "deny":
            raise refused_by_policy(decision)
        if decision.kind == "ask":
            request = replace(
                request, reason=decision.reason, rule=decision.by, untrusted_source=decision.untrusted_source
            )
        resource_id = prepared.resource.resource_id if prepared.resource else None
        if resource_id is None and definition.resource is not None:
            # one that the call itself has planned is not there yet
            resource_id = request.resource_id
        return replace(
            request,
            mode=facts.mode,
            arguments=prepared.given,
            arguments_digest=prepared.digest,
            preview=prepared.preview,
            offers=offers_for(facts, decision, self._policy.roots) if decision.kind == "ask" else (),
            resource_id=resource_id,
        )


def _preview_basis(preview: CallPreview | None) -> tuple[object, ...]:
    """All of a preview that a decision rests on."""
    return () if preview is None else (*approval_basis(preview), preview.diff, preview.words)


def _ask_basis(decision: Decision) -> tuple[str, str | None]:
    return decision.by, decision.untrusted_source
