"""What the policy would decide about a call, and why, without running it or asking the user."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentcore.api import Principal
from agentcore.approval_rules.criteria import Caller, Touched, list_touched
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.calls.call import CallRequest
from agentcore.core.dry_run.call_review import CallReview
from agentcore.core.policy.approval_policy import ApprovalPolicy


class Wire(BaseModel, defer_build=True):
    """Base of models that are read from or written as JSON."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class Question(Wire):
    """A call to be explained."""

    tool: Annotated[str, Field(max_length=64)]
    arguments: dict[str, Any] = {}
    session_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="Its grants and sources count.")] = (
        "explain"
    )
    agent_id: Annotated[str | None, Field(max_length=64, description="Whose call; else the session's agent.")] = None
    mode: Annotated[ApprovalMode | None, Field(description="Else the session's, the agent's, or app.json's.")] = None
    caller: Annotated[Caller, Field(description="Who would call.")] = "chat"
    host: Annotated[
        str,
        Field(max_length=40, pattern=r"^([a-z][a-z0-9_-]*)?$", description="On which host; else the session's."),
    ] = ""


class ConsideredView(Wire):
    """A rule or a grant that was checked; `reason` says why it does not match the call."""

    place: str
    decision: str
    matches: bool
    reason: str = ""


class Explanation(Wire):
    """The decision about a call, and its reasons."""

    decision: str
    by: str
    reason: str
    mode: ApprovalMode
    effects: list[str]
    paths: list[str]
    cwd: str | None
    urls: list[str]
    touches: Annotated[list[Touched], Field(description="The same for people: what it has of each kind of criterion.")]
    is_protected: bool
    untrusted_source: str | None
    considered: list[ConsideredView]


async def explain_policy_decision(
    review: CallReview, policy: ApprovalPolicy, question: Question, agent_id: str, mode: ApprovalMode | None
) -> Explanation:
    """Explain one call.

    Raises:
        ToolError: Why the call could not run: it would not be asked about either.
    """
    request = CallRequest(
        question.tool,
        question.arguments,
        Principal(question.caller, question.session_id),
        session_id=question.session_id,
        agent_id=agent_id,
        mode=mode,
        host=question.host,
    )
    facts = await review.inspect_call(request)
    decision = policy.decide(facts)
    return Explanation(
        decision=decision.kind,
        by=decision.by,
        reason=decision.reason,
        mode=facts.mode,
        effects=sorted(facts.effects),
        paths=list(facts.paths),
        cwd=facts.cwd,
        urls=list(facts.urls),
        touches=list_touched(facts),
        is_protected=facts.is_protected,
        untrusted_source=decision.untrusted_source,
        considered=[
            ConsideredView(
                place=each.place, decision=each.decision, matches=each.differs is None, reason=each.differs or ""
            )
            for each in policy.list_considered(facts)
        ],
    )
