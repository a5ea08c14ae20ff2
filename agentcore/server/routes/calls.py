"""Routes for calls: the record of past calls, and cancelling a current one."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agentcore.core.calls.call import Call
from agentcore.core.policy.authority import find_reach, owner_of
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import NUMBER_MAX
from agentcore.server.route_table import ServerRoute
from agentcore.store.record.query import RecordFilter
from agentcore.store.state.state_errors import RecordUnreadableError


class CallsQuery(StrictModel):
    """Which rows of the record are wanted; newest first, `before` is the `next` of the page before.

    With `before` and `skip` together, a list can show any part of the record while rows are added at its top.
    """

    tool: str | None = None
    module: str | None = None
    session_id: str | None = None
    client: Annotated[str | None, Field(description="The client that called, by its name.")] = None
    outcome: Annotated[str | None, Field(description="`ok`, the type of an error, or `failed` for any.")] = None
    kind: Literal["call", "decision", "notice"] | None = None
    q: Annotated[str | None, Field(max_length=200, description="Stands in the tool's name or the arguments.")] = None
    call_id: Annotated[str | None, Field(description="A call, with the decisions about it.")] = None
    parent_call_id: Annotated[str | None, Field(description="The call that made them.")] = None
    after: Annotated[int | None, Field(ge=0, le=NUMBER_MAX, description="Only rows whose `seq` is above this one.")] = (
        None
    )
    before: Annotated[
        int | None, Field(ge=1, le=NUMBER_MAX, description="Only rows whose `seq` is below this one.")
    ] = None
    skip: Annotated[int, Field(ge=0, le=NUMBER_MAX, description="Leave out so many of the newest.")] = 0
    total: Annotated[bool, Field(description="Whether to count all rows that match, but for `skip` and `limit`.")] = (
        False
    )
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class CallsPage(BaseModel, defer_build=True):
    """A page of the record.

    A page may have fewer rows than `limit`, or none, although older ones are to be searched: `next` is null on the
    last page only. `total` is null where it was not asked for. With a filter, it counts the rows from `total_since` on;
    where that is null, it counts all.
    """

    calls: list[dict[str, Any]]
    next: int | None
    total: int | None = None
    total_since: int | None = None


class CallsOnTheWay(BaseModel, defer_build=True):
    """Calls that have not ended, the newest first; `state` is `waiting` while a person is asked about one."""

    calls: list[dict[str, Any]]


class CallOutput(BaseModel, defer_build=True):
    """The last characters that a call has written, and how many it wrote in all."""

    text: str
    end: int


async def list_calls(exchange: Exchange) -> Answer:
    """Send one page of the record."""
    query: CallsQuery = exchange.query
    requested = RecordFilter(
        tool=query.tool,
        module=query.module,
        session_id=query.session_id,
        principal_id=query.client,
        outcome=query.outcome,
        kind=query.kind,
        text=query.q,
        call_id=query.call_id,
        parent_call_id=query.parent_call_id,
        after_seq=query.after,
        before_seq=query.before,
    )
    record = exchange.core.store.record
    try:
        page = await record.read_bounded_page(requested, skip=query.skip, limit=query.limit, must_count=query.total)
    except RecordUnreadableError as exc:
        raise exc.as_tool_error() from exc
    calls = [{"seq": recorded.seq, **recorded.row._asdict()} for recorded in page.rows]
    return Answer(
        to_json({"calls": calls, "next": page.next_seq, "total": page.total, "total_since": page.total_since})
    )


async def list_calls_on_the_way(exchange: Exchange) -> Answer:
    """Send the calls that have not ended."""
    waiting = {request.call_id for request in exchange.core.approvals.waiting}
    calls = [_on_the_way(call, is_waiting=call.id in waiting) for call in exchange.core.calls.in_flight.values()]
    return Answer(to_json({"calls": calls[::-1]}))


def _on_the_way(call: Call, *, is_waiting: bool) -> dict[str, Any]:
    request = call.request
    prepared = call.prepared
    return {
        "call_id": call.id,
        "parent_call_id": request.parent_call_id,
        "time_ms": call.started_ms,
        "tool": request.tool,
        "module": "" if prepared is None else prepared.tool.module.name,
        "session_id": call.session_id,
        "principal_kind": request.principal.kind,
        "arguments": "" if prepared is None else prepared.shown_arguments,
        "state": "waiting" if is_waiting else "running",
    }


async def get_output(exchange: Exchange) -> Answer:
    """Send the last part of what a call has written; nothing once it has ended, because its result contains it."""
    call = exchange.core.calls.in_flight.get(exchange.path_values["id"])
    if call is not None and find_reach(exchange.principal, "follow") == "own":
        owned = await exchange.core.store.chats.filter_owned(owner_of(exchange.principal), [call.session_id])
        call = call if owned else None
    return Answer(to_json({"text": "", "end": 0} if call is None or call.output is None else call.output.to_json()))


async def cancel_call(exchange: Exchange) -> Answer:
    """Cancel a call that runs or waits for a decision; its caller receives `cancelled`."""
    await exchange.core.calls.cancel_call(exchange.path_values["id"], exchange.principal)
    return Answer(to_json({"ok": True}))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/calls",
        list_calls,
        "The record of calls and decisions, newest first, filtered and in pages.",
        query=CallsQuery,
        answer=CallsPage,
    ),
    ServerRoute(
        "GET", "/api/calls/on-the-way", list_calls_on_the_way, "Calls that have not ended.", answer=CallsOnTheWay
    ),
    ServerRoute(
        "GET",
        "/api/calls/{id}/output",
        get_output,
        "The end of what a call has written that is on its way, of others nothing; the events `call.output` go on from "
        "there.",
        action="follow",
        keeps_to_own=True,
        answer=CallOutput,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/calls/{id}/cancel",
        cancel_call,
        "End a call that is on its way, waits for a decision, or was approved and has not begun.",
        action="call",
    ),
)
