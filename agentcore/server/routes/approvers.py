"""Paired clients: each has a key of its own by which it approves, until it is revoked."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentcore.host.encoding import to_json
from agentcore.server.answer import Answer
from agentcore.server.bounds import LOGIN_BODY_BYTES
from agentcore.server.exchange import Exchange
from agentcore.server.refusal import Refusal
from agentcore.server.route_table import ServerRoute
from agentcore.store.call_row import notice
from agentcore.store.one_time_codes import CODE_SECONDS


class ApproverView(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A paired client; times in milliseconds since 1970."""

    name: str
    created_at: int
    last_used_at: int


class Approvers(BaseModel, defer_build=True):
    """All paired clients, the last used first."""

    approvers: list[ApproverView]


class PairingCode(BaseModel, defer_build=True, alias_generator=to_camel, populate_by_name=True):
    """A short code to type into the client that is to be paired."""

    code: str
    expires_in_s: int


class PairBody(BaseModel, defer_build=True):
    """What the client shows: the code that a person typed into it, and the name it wants to be known by."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[str, Field(min_length=1, max_length=40)]
    name: Annotated[str, Field(min_length=1, max_length=64)]


class ApproverKey(BaseModel, defer_build=True):
    """The client's key, shown this once; it is sent as `Authorization: Bearer`."""

    name: str
    key: str


async def list_approvers(exchange: Exchange) -> Answer:
    """Send the paired clients."""
    found = [
        ApproverView(name=known.name, created_at=known.created_at_ms, last_used_at=known.last_used_at_ms)
        for known in exchange.host.store.approver_keys.approvers()
    ]
    return Answer(to_json(Approvers(approvers=found)))


async def create_pairing_code(exchange: Exchange) -> Answer:
    """Make a short code; only for somebody who can approve already."""
    code = exchange.host.store.approver_keys.create_code()
    return Answer(to_json(PairingCode(code=code, expires_in_s=CODE_SECONDS)))


async def pair(exchange: Exchange) -> Answer:
    """Exchange a short code for an approver key."""
    body: PairBody = exchange.body
    key = await exchange.host.store.approver_keys.exchange(body.code, body.name)
    if key is None:
        exchange.parts.hits.add("wrong_code")
        raise Refusal(401, "invalid_code", "this code is not valid (any more); make a new one in the approval view")
    _note(exchange, "approver_paired", body.name)
    return Answer(to_json(ApproverKey(name=body.name, key=key)))


async def revoke(exchange: Exchange) -> Answer:
    """End a client's right to approve. Whoever may stop everything may do that: it only takes rights away."""
    name = exchange.path_values["name"]
    await exchange.host.store.approver_keys.revoke(name)
    _note(exchange, "approver_revoked", name)
    return Answer(to_json({"ok": True}))


def _note(exchange: Exchange, outcome: str, name: str) -> None:
    """Record what became of a client, and tell the approval view: a person sees what they did not do."""
    principal = exchange.principal
    row = notice(outcome, name=name)._replace(principal_kind=principal.kind, principal_id=principal.id)
    exchange.host.store.record.append(row)
    exchange.host.events.publish("approvers.changed", {"name": name, "outcome": outcome})


_LIST = ServerRoute("GET", "/api/approvers", list_approvers, "Clients that may approve.", answer=Approvers)
_REVOKE = ServerRoute("DELETE", "/api/approvers/{name}", revoke, "End a client's right to approve.", action="stop")
_CODE = ServerRoute(
    "POST",
    "/api/approvers/code",
    create_pairing_code,
    "Make a short code that pairs one client, once, within ten minutes.",
    action="approve",
    answer=PairingCode,
)

ROUTES = (
    _LIST,
    _CODE,
    _REVOKE,
    ServerRoute(
        "POST",
        "/api/approvers",
        pair,
        "Pair a client: exchange a short code for its key.",
        action=None,
        body=PairBody,
        answer=ApproverKey,
        limit_bytes=LOGIN_BODY_BYTES,
    ),
)

APPROVAL_ROUTES = (_LIST, _CODE, _REVOKE)
