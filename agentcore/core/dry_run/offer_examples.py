"""Examples of an offer: recorded calls that it would have allowed."""

import asyncio
import json
from collections.abc import Sequence

from agentcore.api import Principal
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.criteria import Criteria
from agentcore.core.approvals.request import ApprovalRequest
from agentcore.core.calls.call import CallRequest
from agentcore.core.dry_run.call_review import CallReview
from agentcore.core.dry_run.explanation import Wire
from agentcore.core.dry_run.rule_trial import read_arguments
from agentcore.errors import ToolError
from agentcore.store.record.call_row import RecordedRow
from agentcore.store.record.query import RecordFilter
from agentcore.store.record.record import Record

_ROWS = 40
"""Recorded calls that are looked at; each may need a preview."""

_SECONDS = 2.0
_EXAMPLES = 2
_TEXT_CHARS = 200
_DID_NOT_RUN = frozenset(("approval_required", "approval_denied", "invalid_arguments", "unknown_tool"))


class OfferExample(Wire):
    """A recorded call that an offer would have allowed; `text` is its command, address, path, or its arguments."""

    call_id: str
    time_ms: int
    tool: str
    text: str


async def find_offer_examples(
    review: CallReview, roots: Sequence[str], record: Record, request: ApprovalRequest, *, in_session: bool
) -> list[list[OfferExample]]:
    """Return up to two recorded calls for each offer of a call that waits, newest first, each with another text.

    Args:
        review: Determines what a recorded call would touch today.
        roots: Real paths of the workspace roots.
        record: The recorded calls.
        request: The call that waits.
        in_session: True to look at calls of its session only.
    """
    criteria = [Criteria.of_grant(offer.tool, offer.arguments, roots) for offer in request.offers]
    found: list[dict[str, OfferExample]] = [{} for _ in criteria]
    try:
        async with asyncio.timeout(_SECONDS):
            for recorded in await _read_rows(record, request, in_session=in_session):
                facts = await _build_facts(review, recorded, request)
                if facts is None:
                    continue
                example = _describe_call(recorded, facts)
                for each, examples in zip(criteria, found, strict=True):
                    if len(examples) < _EXAMPLES and each.find_mismatch(facts, surely=True) is None:
                        examples.setdefault(example.text, example)
    except TimeoutError:
        pass  # fewer examples
    return [list(examples.values()) for examples in found]


async def _read_rows(record: Record, request: ApprovalRequest, *, in_session: bool) -> list[RecordedRow]:
    session_id = request.session_id if in_session else None
    tools = {request.definition.name, *(offer.tool for offer in request.offers)}
    rows: dict[int, RecordedRow] = {}
    for tool in sorted(tools):
        requested = RecordFilter(kind="call", session_id=session_id, tool=None if tool == "*" else tool)
        rows.update((row.seq, row) for row in await record.read_page(requested, limit=_ROWS))
    return [rows[seq] for seq in sorted(rows, reverse=True)]


async def _build_facts(review: CallReview, recorded: RecordedRow, request: ApprovalRequest) -> CallFacts | None:
    """Return what a recorded call would touch today; None: no grant is about it, or it could not run any more."""
    row = recorded.row
    if row.outcome in _DID_NOT_RUN or row.principal_kind != request.principal.kind:
        return None
    try:
        arguments = read_arguments(row)
        principal = Principal(row.principal_kind, row.principal_id)
        again = CallRequest(row.tool, arguments, principal, session_id=row.session_id, host=request.host)
        facts = await review.inspect_call(again)
    except ToolError:
        return None
    always_asks = facts.is_protected or facts.caution or facts.preview_failure or "dangerous" in facts.effects
    return None if always_asks else facts


def _describe_call(recorded: RecordedRow, facts: CallFacts) -> OfferExample:
    texts = (facts.command, *facts.urls, *facts.paths, json.dumps(facts.arguments, ensure_ascii=False))
    text = next(text for text in texts if text)
    row = recorded.row
    return OfferExample(call_id=row.call_id, time_ms=row.time_ms, tool=row.tool, text=text[:_TEXT_CHARS])
