"""Decides whether a call may run: by the policy, or by the user, who is asked about exactly this call, once."""

import asyncio
import os
import time
from typing import Any

from agentcore.approval_rules.call_facts import CallFacts, effects_of
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.approvals.approval_queue import ApprovalQueue
from agentcore.core.approvals.pending_approval import PendingApproval
from agentcore.core.approvals.request import ApprovalRequest, Approver, Verdict
from agentcore.core.calls.call import Call, CallDecision, PreparedCall, pause_clock
from agentcore.core.calls.call_errors import on_other_host, target_gone
from agentcore.core.calls.prepare import Preparation
from agentcore.core.declarations.hosted_names import pool_of
from agentcore.core.policy.approval_policy import OWN_CALL, ApprovalPolicy
from agentcore.core.policy.authority import Decision, is_looser
from agentcore.core.policy.grant_offers import offers_for
from agentcore.core.policy.page_scripts import PageScripts
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.net.url_pattern import host_of


class Permission:
    """Permits calls that may run, and asks the user about the others."""

    def __init__(
        self,
        policy: ApprovalPolicy,
        approvals: ApprovalQueue,
        preparation: Preparation,
        workspace: Workspace,
        page_scripts: PageScripts,
    ) -> None:
        self._policy = policy
        self._approvals = approvals
        self._preparation = preparation
        self._workspace = workspace
        self._page_scripts = page_scripts

    async def permit_call(self, call: Call, prepared: PreparedCall) -> PreparedCall:
        """Permit a call or raise; `call.ruling` records the decision.

        Returns:
            The call as it may run: the user may have edited its arguments when approving.
        Raises:
            ToolError: `approval_required`, `approval_denied`.
        """
        policy = self._policy
        # noted before anything is awaited: where the policy changes meanwhile, the call is decided on again
        version = policy.version
        # the user decides about a call that they were asked about, even if a later rule allows it
        is_asked = call.request.call_id is not None
        if not is_asked and policy.allows_own_call(call.request.principal, prepared.preview):
            call.ruling = CallDecision(OWN_CALL, OWN_CALL.by, version)
            call.report_decision(asks=False)
            return prepared
        facts = await self.facts_of(call, prepared)
        decision = policy.decide(facts)
        if decision.kind == "ask" and not policy.needs_paths:
            # they determine what is offered along with the approval
            facts = await self.facts_of(call, prepared, with_paths=True)
            # another mode, chosen meanwhile, decides only those that are in the queue; nothing is awaited until then
            decision = policy.decide(facts)
        if decision.kind == "allow" and not is_asked:
            call.ruling = CallDecision(decision, decision.by, version)
            call.report_decision(asks=False)
            await policy.record_use(decision)
            return prepared
        call.ruling = CallDecision(decision, "", version)
        if decision.kind == "deny":
            raise refused_by_policy(decision)
        if not is_asked:
            call.report_decision(asks=True)
        with pause_clock(call.parent):
            shown = await self._ask_user(call, prepared, facts, call.ruling)
        if shown.changes:
            # the call is approved in its current form, not as it was when it began to wait
            prepared = await self._preparation.prepare_call(call)
        return prepared if shown.arguments_digest == prepared.digest else self._as_edited(call, prepared, shown)

    async def decide_again(self, call: Call, prepared: PreparedCall, ruling: CallDecision) -> None:
        """Hold a call against the policy as it is now; nothing is looked at where that is still the same.

        Raises:
            ToolError: `approval_denied`.
        """
        if ruling.policy_version == self._policy.version:
            return
        decision = self._policy.decide(await self.facts_of(call, prepared))
        if decision.kind == "deny":
            raise refused_by_policy(decision)
        if decision.kind == "ask" and not _is_approved_by_user(ruling):
            raise ToolError(
                "approval_denied",
                f"what is allowed changed while the call waited for its turn ({decision.reason}); send it again",
                retryable=True,
            )

    async def record_untrusted_source(self, call: Call) -> None:
        """Record that a model reads untrusted content; results of the user's own calls are read by no model."""
        if call.is_made_by_user:
            return
        preview = None if call.prepared is None else call.prepared.preview
        hosts = {host for url in (preview.urls if preview else ()) if (host := host_of(url))}
        for name in sorted(hosts) or [call.request.tool]:
            await self._policy.record_untrusted_source(call.session_id, name)

    async def record_page_script(self, prepared: PreparedCall) -> None:
        """Record that a call is about to run a script of a model in the page, if it can run one."""
        await self._page_scripts.record_run(effects_of(prepared.tool.definition, prepared.preview))

    async def facts_of(self, call: Call, prepared: PreparedCall, *, with_paths: bool = False) -> CallFacts:
        """Return the facts that the policy checks; `with_paths`: including paths in arguments, even if no rule checks
        them."""
        named: tuple[str, ...] = ()
        # a preview, if there is one, lists these paths
        if (with_paths or self._policy.needs_paths) and (prepared.preview is None or prepared.preview.failure):
            texts = _path_texts(prepared.arguments)
            if prepared.tool.module.host:
                # only the other machine could resolve them
                named = tuple(texts)
                texts = []
            named = await asyncio.to_thread(_resolve_paths, self._workspace, texts) if texts else named
        request = call.request
        placed = prepared.tool.module.placed
        return CallFacts(
            request.principal,
            prepared.tool.definition,
            prepared.arguments,
            prepared.preview,
            call.session_id,
            request.agent_id,
            self._mode_of(call),
            named,
            pool_of(prepared.tool.module.host),  # rules for a pool apply to all its hosts
            () if placed is None else tuple(placed.roots),
            _on_behalf_of(call),
        )

    def _mode_of(self, call: Call) -> ApprovalMode:
        """Return the mode of a call: that of its chat now, unless the call has one of its own.

        A foreign machine does not inherit what its chat may do without asking.
        """
        general = self._policy.mode
        caller = call.request.principal.kind
        mode = call.request.mode or self._policy.find_session_mode(call.session_id, caller) or general
        return general if caller == "host" and is_looser(mode, general) else mode

    # -- asking the user --------------------------------------------------------------------------------------------

    async def _ask_user(
        self, call: Call, prepared: PreparedCall, facts: CallFacts, ruling: CallDecision
    ) -> ApprovalRequest:
        """Request the user's decision on exactly this call; return what was approved, and only if it was."""
        approver = self._approvals.approver
        request = call.request
        pending = self._approvals.find_pending(call.id)
        if pending is None:
            # a caller that waits for the call is gone when this process is
            is_kept = not (request.waits_for_approval or approver)
            question = self._build_request(call, prepared, facts, ruling.decision)
            pending = await self._approvals.put(question, is_kept=is_kept)
        elif pending.request.host != prepared.tool.module.host:
            raise on_other_host(prepared.tool.module.host, pending.request.host, is_approved=True)
        elif not pending.is_for(prepared.digest, prepared.tool.definition, call.session_id):
            raise ToolError("approval_denied", "this is not the call that waits: tool, arguments or session differ")
        elif not _has_its_target(pending, prepared):
            gone = target_gone(str(pending.request.resource_id))
            await pending.withdraw(gone.message)  # the user is not asked about a call that cannot run
            raise gone
        if approver is not None:
            await self._ask_at_terminal(approver, pending)
        elif request.waits_for_approval:
            await self._wait_for_user(call, pending)
        # used up before anything else: a second call with this id must find no approval
        verdict = pending.use_verdict()
        if verdict is None:
            raise _unanswered_error(pending)
        call.ruling = ruling._replace(decided_by=verdict.by, approval=pending)
        if verdict.is_by_policy:
            # what the policy allowed while it waited may not be allowed any more
            call.ruling = call.ruling._replace(policy_version=None)
        if not verdict.approved:
            raise _rejected_error(verdict)
        return pending.request

    async def _ask_at_terminal(self, approver: Approver, pending: PendingApproval) -> None:
        """Ask until the user has decided on the call in its current form."""
        while pending.verdict is None:
            try:
                await self._approvals.decide_call(pending.request.call_id, await approver(pending.request))
            except ToolError as exc:
                if exc.type != "approval_changed":
                    raise

    async def _wait_for_user(self, call: Call, pending: PendingApproval) -> None:
        if call.notify is not None:
            request = pending.request
            call.notify("approval", {"callId": call.id, "expiresAt": None, "reason": request.reason})
        try:
            await pending.wait()
        except asyncio.CancelledError:
            await pending.withdraw()
            raise

    def _build_request(
        self, call: Call, prepared: PreparedCall, facts: CallFacts, decision: Decision
    ) -> ApprovalRequest:
        return ApprovalRequest(
            call_id=call.id,
            session_id=call.session_id,
            principal=call.request.principal,
            definition=prepared.tool.definition,
            arguments=prepared.given,
            arguments_digest=prepared.digest,
            reason=decision.reason,
            preview=prepared.preview,
            requested_at_ms=time.time_ns() // 1_000_000,
            rule=decision.by,
            untrusted_source=decision.untrusted_source,
            offers=offers_for(facts, decision, self._policy.roots),
            agent_id=facts.agent_id,
            mode=facts.mode,
            resource_id=prepared.resource.resource_id if prepared.resource else None,
            host=prepared.tool.module.host,
            account=call.account,
        )

    def _as_edited(self, call: Call, prepared: PreparedCall, shown: ApprovalRequest) -> PreparedCall:
        """Return the call with the arguments that the user edited when approving."""
        edited = self._preparation.replace_arguments(call, prepared, shown.arguments)
        call.prepared = edited = edited._replace(preview=shown.preview)
        assert call.ruling is not None  # noqa: S101 - a person has just decided
        call.ruling = call.ruling._replace(policy_version=None)  # what the policy decided was about other arguments
        return edited


def _has_its_target(pending: PendingApproval, prepared: PreparedCall) -> bool:
    """True if a waiting call would act on the resource that was shown; edited arguments are checked when it runs."""
    shown = pending.request
    if shown.resource_id is None or shown.arguments_digest != pending.asked_digest:
        return True
    return prepared.resource is not None and prepared.resource.resource_id == shown.resource_id


def _on_behalf_of(call: Call) -> str:
    """Return the kind of principal that a foreign machine works for; empty: no foreign machine makes the call."""
    if call.request.principal.kind != "host":
        return ""
    callers = (each.request.principal.kind for each in call.ancestors())
    return next((kind for kind in callers if kind != "host"), "")


def _is_approved_by_user(ruling: CallDecision) -> bool:
    """True if the user approved exactly this call; the policy may also have decided on it while it waited."""
    verdict = None if ruling.approval is None else ruling.approval.verdict
    return verdict is not None and not verdict.is_by_policy


def _unanswered_error(pending: PendingApproval) -> ToolError:
    if pending.withdrawn_because:
        return ToolError("approval_denied", pending.withdrawn_because)
    if not pending.is_waiting:
        return ToolError("approval_expired", "what was decided has expired; send the call again without call_id")
    request = pending.request
    return ToolError(
        "approval_required",
        f"this call needs the user's approval ({request.reason}); send the same body again with call_id once given",
        retryable=True,
        callId=request.call_id,
        expiresAt=None,
    )


def _rejected_error(verdict: Verdict) -> ToolError:
    if verdict.is_by_policy:
        return refused_by_policy(Decision("deny", verdict.by, verdict.reason))
    if verdict.reason:
        message = f"a person rejected this call: {verdict.reason}"
        return ToolError("approval_denied", message, by=verdict.by, reason=verdict.reason)
    return ToolError("approval_denied", "a person rejected this call; ask what they want instead", by=verdict.by)


def refused_by_policy(decision: Decision) -> ToolError:
    """The error of a call that the policy refuses."""
    return ToolError("approval_denied", f"the policy refuses this call: {decision.reason}", rule=decision.by)


def _path_texts(arguments: dict[str, Any]) -> list[str]:
    paths = arguments.get("paths")
    found = [arguments.get("path"), *(paths if isinstance(paths, list | tuple) else ())]
    return [text for text in found if isinstance(text, str)]


def _resolve_paths(workspace: Workspace, texts: list[str]) -> tuple[str, ...]:
    return tuple(_real_path(workspace, text) for text in texts)


def _real_path(workspace: Workspace, text: str) -> str:
    try:
        return workspace.real_path(workspace.locate(text))
    except ToolError:
        # it is not in the workspace; the tool may use it for another location
        return os.path.realpath(os.path.join(workspace.roots[0], text.replace("\0", "")))  # noqa: PTH118
