"""Trying a rule on the recorded calls before it is switched on: which would be decided differently?"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from agentcore.api import Principal
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.config.app_json import ApprovalRule
from agentcore.core.calls.call import CallRequest
from agentcore.core.declarations.hosted_names import host_in, pool_of
from agentcore.core.dry_run.call_review import CallReview
from agentcore.core.dry_run.explanation import Wire
from agentcore.core.policy.approval_policy import ApprovalPolicy
from agentcore.core.policy.authority import Decision
from agentcore.errors import ToolError
from agentcore.secrets import MASK
from agentcore.store.record.call_row import CallRow, RecordedRow
from agentcore.store.record.query import RecordFilter
from agentcore.store.record.record import Record

TRIAL_SECONDS = 20.0
"""How long one trial checks calls; its result states how many it checked."""

ModeOf = Callable[[str], Awaitable[tuple[str, ApprovalMode | None]]]
"""The agent of a session, and the mode of either."""


class Trial(Wire):
    """A rule to be tried."""

    rule: ApprovalRule
    limit: Annotated[int, Field(ge=1, le=1000, description="How many of the newest calls.")] = 200


class DecisionView(Wire):
    """The decision about a call, and what decides."""

    decision: str
    by: str


class DifferentCall(Wire):
    """A recorded call that the rule would change."""

    seq: int
    call_id: str
    time_ms: int
    tool: str
    session_id: str
    caller: str
    arguments: str
    before: DecisionView
    after: DecisionView


class UndecidedCall(Wire):
    """A recorded call that cannot be decided, and why."""

    seq: int
    call_id: str
    tool: str
    reason: str


class TrialResult(Wire):
    """What the rule would have changed; paths and addresses are those that the calls would touch today."""

    examined: int
    is_complete: bool
    different: list[DifferentCall]
    undecided: list[UndecidedCall]


async def try_rule(
    review: CallReview, policy: ApprovalPolicy, record: Record, trial: Trial, mode_of: ModeOf
) -> TrialResult:
    """Hold the newest recorded calls against the policy as it is, and with one more rule."""
    rows = await record.read_page(RecordFilter(kind="call"), limit=trial.limit)
    comparison = _Comparison(review, policy, trial.rule, mode_of)
    examined = 0
    try:
        async with asyncio.timeout(TRIAL_SECONDS):
            for row in rows:
                await comparison.compare_call(row)
                examined += 1
    except TimeoutError:
        pass  # the findings so far are reported, with the number of checked calls
    return TrialResult(
        examined=examined,
        is_complete=examined == len(rows),
        different=comparison.different,
        undecided=comparison.undecided,
    )


class _Comparison:
    def __init__(self, review: CallReview, policy: ApprovalPolicy, rule: ApprovalRule, mode_of: ModeOf) -> None:
        self._review = review
        self._mode_of = mode_of
        self._before = policy
        self._after = policy.with_rule(rule)
        self._modes: dict[str, tuple[str, ApprovalMode | None]] = {}
        self.different: list[DifferentCall] = []
        self.undecided: list[UndecidedCall] = []

    async def compare_call(self, recorded: RecordedRow) -> None:
        """Compare what becomes of one call."""
        row = recorded.row
        try:
            facts = await self._build_facts(row)
        except ToolError as exc:
            reason = exc.message
            self.undecided.append(UndecidedCall(seq=recorded.seq, call_id=row.call_id, tool=row.tool, reason=reason))
            return
        before = self._before.decide(facts)
        after = self._after.decide(facts)
        if before.kind != after.kind:
            self.different.append(_describe_difference(recorded, before, after))

    async def _build_facts(self, row: CallRow) -> CallFacts:
        """Return what the call would touch if it were made today."""
        arguments = read_arguments(row)
        agent_id, mode = await self._session_mode(row.session_id)
        principal = Principal(row.principal_kind, row.principal_id)  # type: ignore[arg-type]
        request = CallRequest(
            row.tool,
            arguments,
            principal,
            session_id=row.session_id,
            agent_id=agent_id,
            mode=mode,
            host=pool_of(host_in(row.module)),
        )
        return await self._review.inspect_call(request)

    async def _session_mode(self, session_id: str) -> tuple[str, ApprovalMode | None]:
        if session_id not in self._modes:
            self._modes[session_id] = await self._mode_of(session_id)
        return self._modes[session_id]


def read_arguments(row: CallRow) -> dict[str, Any]:
    """Return the arguments of a recorded call.

    Raises:
        ToolError: `not_recorded`, with the reason.
    """
    if MASK in row.arguments:
        raise ToolError("not_recorded", "secrets in its arguments were not recorded")
    try:
        arguments = json.loads(row.arguments or "{}")
    except ValueError as exc:
        raise ToolError("not_recorded", "its arguments are too long to be recorded whole") from exc
    if not isinstance(arguments, dict):
        raise ToolError("not_recorded", "its arguments were not recorded")
    return arguments


def _describe_difference(recorded: RecordedRow, before: Decision, after: Decision) -> DifferentCall:
    row = recorded.row
    return DifferentCall(
        seq=recorded.seq,
        call_id=row.call_id,
        time_ms=row.time_ms,
        tool=row.tool,
        session_id=row.session_id,
        caller=row.principal_kind,
        arguments=row.arguments,
        before=DecisionView(decision=before.kind, by=before.by),
        after=DecisionView(decision=after.kind, by=after.by),
    )
