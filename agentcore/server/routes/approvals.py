"""Routes for what waits for the user, and for decisions: at the approval view's origin, and for paired clients."""

import time
from typing import Annotated, Any

from pydantic import BaseModel, Field

from agentcore.core.approvals.definition_review import AT_ONCE
from agentcore.core.approvals.network_approval import check_approver
from agentcore.core.approvals.request import ApprovalRequest, Verdict
from agentcore.core.dry_run.offer_examples import OfferExample, find_offer_examples
from agentcore.core.policy.authority import find_reach, owner_of
from agentcore.core.policy.grants import GrantOffer
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.page.approval_view import (
    Waiting,
    WaitingCall,
    titles_of,
    waiting_call,
    waiting_change,
    waiting_pairing,
    waiting_question,
)
from agentcore.server.route_table import ServerRoute
from agentcore.server.routes.sessions.sessions import Accepted, QuestionAnswer, answer_question


class Decision(StrictModel):
    """The person's word on one call. To approve it takes the `digest` of the call as it was shown, or edited.

    `offer` is the place of one of its offers; `reason` says why not, for whoever called.
    """

    approved: bool
    digest: Annotated[str, Field(max_length=128)] = ""
    offer: Annotated[int | None, Field(ge=0, le=100)] = None
    reason: Annotated[str, Field(max_length=1000)] = ""


class Edit(StrictModel):
    """What a call that waits is to run with instead."""

    arguments: dict[str, Any]


class ChangeDecision(StrictModel):
    """The person's word on one change of what is allowed.

    `reading` are those of its `readingTools` that are treated as reading from then on.
    """

    approved: bool
    reading: Annotated[tuple[str, ...], Field(max_length=AT_ONCE)] = ()


class Decided(BaseModel, defer_build=True):
    """The word was taken."""

    ok: bool


class OfferExamples(BaseModel, defer_build=True):
    """Recorded calls that each offer of a call would have allowed, in the order of the offers, two of each at most."""

    examples: list[list[OfferExample]]


async def list_waiting(exchange: Exchange) -> Answer:
    """Send everything that waits; to a client that may decide only in its own sessions, what waits in these."""
    core = exchange.core
    is_everywhere = find_reach(exchange.principal, "see_waiting") == "all"
    calls = core.approvals.waiting
    questions = exchange.parts.chat.sessions.list_questions()
    if not is_everywhere:
        asking = {call.session_id for call in calls} | {session_id for session_id, _ in questions}
        owned = await core.store.chats.filter_owned(owner_of(exchange.principal), asking)
        calls = [call for call in calls if call.session_id in owned]
        questions = [(session_id, question) for session_id, question in questions if session_id in owned]
    # clients must not see pairings
    pairings = core.pairings.waiting if exchange.principal.kind != "client" else []
    changes = core.policy_changes.waiting if is_everywhere else []
    titles = await titles_of(core.store.chats, [*calls, *changes], {session_id for session_id, _ in questions})
    waiting = Waiting(
        calls=[waiting_call(request, core.registry, core.places, titles) for request in calls],
        changes=[waiting_change(change, titles) for change in changes],
        pairings=[waiting_pairing(pairing) for pairing in pairings],
        questions=[waiting_question(session_id, question, titles) for session_id, question in questions],
        now=time.time_ns() // 1_000_000,
    )
    return Answer(to_json(waiting))


async def list_examples(exchange: Exchange) -> Answer:
    """Send, for each offer of a call that waits, recorded calls that it would have allowed."""
    core = exchange.core
    request = core.approvals.find_undecided(exchange.path_values["id"]).request
    await _check_may_decide(exchange, request)
    in_session = find_reach(exchange.principal, "see_waiting") != "all"
    roots = core.policy.roots
    found = await find_offer_examples(core.call_review, roots, core.store.record, request, in_session=in_session)
    return Answer(to_json(OfferExamples(examples=found)))


async def edit_call(exchange: Exchange) -> Answer:
    """Send the call as it would be with other arguments, ready to be approved; the pending call stays as it is."""
    call_id = exchange.path_values["id"]
    body = exchange.body
    pending = exchange.core.approvals.find_pending(call_id)
    await _check_may_decide(exchange, None if pending is None else pending.request)
    edited = await exchange.core.call_review.edit_call(call_id, body.arguments)
    titles = await titles_of(exchange.core.store.chats, [edited])
    return Answer(to_json(waiting_call(edited, exchange.core.registry, exchange.core.places, titles)))


async def decide_call(exchange: Exchange) -> Answer:
    """Approve or reject exactly the call that was shown."""
    call_id = exchange.path_values["id"]
    body = exchange.body
    who = exchange.principal
    pending = exchange.core.approvals.find_pending(call_id)
    request = None if pending is None else pending.as_edited(body.digest)
    await _check_may_decide(exchange, request)
    if body.approved:
        grant = None if request is None else _find_offer(request, body.offer)
        if grant is not None and grant.scope == "always" and find_reach(who, "approve") == "own":
            message = "this client decides in sessions that it made; what is allowed in all of them is for a person"
            raise ToolError("forbidden", message, principal=who.kind, action="approve")
        verdict = Verdict(True, who.name, body.digest, grant)
    else:
        verdict = Verdict(False, who.name, reason=body.reason.strip())
    await exchange.core.approvals.decide_call(call_id, verdict)
    return _ok_answer()


async def _check_may_decide(exchange: Exchange, request: ApprovalRequest | None) -> None:
    owner = None
    if find_reach(exchange.principal, "approve") == "own":
        session = None if request is None else await exchange.core.store.chats.find_session(request.session_id)
        owner = "" if session is None else session.owner
    check_approver(
        exchange.principal,
        None if request is None else request.definition,
        None if request is None else request.preview,
        api_token_approves=exchange.core.policy.config.api_token,
        session_owner=owner,
    )


def _find_offer(request: ApprovalRequest, number: int | None) -> GrantOffer | None:
    if number is None:
        return None
    if number >= len(request.offers):
        message = f"there is no offer {number}: the call has {len(request.offers)}"
        raise ToolError("offer_not_found", message, call_id=request.call_id, offers=len(request.offers))
    return request.offers[number]


async def decide_change(exchange: Exchange) -> Answer:
    """Apply a policy change, or refuse it."""
    body = exchange.body
    await exchange.core.policy_changes.decide_change(
        exchange.path_values["id"],
        approved=body.approved,
        by=exchange.principal.name,
        reading=body.reading,
    )
    return _ok_answer()


def _ok_answer() -> Answer:
    return Answer(to_json({"ok": True}))


_ANSWER: dict[str, Any] = {"answer": Decided}

ROUTES = (
    ServerRoute(
        "GET",
        "/api/approvals",
        list_waiting,
        "Calls, changes and clients that wait for a person.",
        action="see_waiting",
        keeps_to_own=True,
        answer=Waiting,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/approvals/{id}/decision",
        decide_call,
        "Approve or reject a call that waits, as it was asked for or as it was edited. It takes the "
        "approval view, or the key of a client that was paired for it; others get `approval_denied`. A second word "
        "finds nothing: `approval_not_found`.",
        action="see_waiting",
        keeps_to_own=True,
        body=Decision,
        **_ANSWER,
        is_for_extensions=True,
    ),
    ServerRoute(
        "GET",
        "/api/approvals/{id}/examples",
        list_examples,
        "Recorded calls that each offer of a call that waits would have allowed.",
        action="see_waiting",
        keeps_to_own=True,
        answer=OfferExamples,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/approvals/{id}/edit",
        edit_call,
        "Look at a call that waits with other arguments: what it would touch and write. It waits on; a decision with "
        "the digest of this answer lets it run so.",
        action="see_waiting",
        keeps_to_own=True,
        body=Edit,
        answer=WaitingCall,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/approvals/sessions/{session_id}/answer",
        answer_question,
        "Answer what a tool asks, for who may decide on calls in that session.",
        action="approve",
        body=QuestionAnswer,
        answer=Accepted,
    ),
    ServerRoute(
        "POST",
        "/api/policy-changes/{id}/decision",
        decide_change,
        "Apply a change of what is allowed, or refuse it. New definitions of tools can be applied with some treated as "
        "reading: `reading` names them, of its `readingTools`.",
        action="change_policy",
        body=ChangeDecision,
        **_ANSWER,
    ),
)
"""Served at both origins: the credential determines who may decide."""
