"""Routes for paired clients: each has its own key with the scopes that the user chose, until it is revoked."""

from typing import Annotated, Literal

from aiohttp import hdrs
from pydantic import Field

from agentcore.api.tool_context import KeyScope
from agentcore.core.approvals.client_pairings import PairingRequest
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictModel, WireModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import LOGIN_BODY_BYTES, PAIRING_POLL_SECONDS
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.client_keys import PairedKind
from agentcore.store.credentials.one_time_codes import CODE_SECONDS
from agentcore.store.record.call_row import make_notice_row

Scopes = Annotated[frozenset[KeyScope], Field(max_length=3)]


class ClientView(WireModel):
    """A paired client; times in milliseconds since 1970. `origin` is empty for programs."""

    name: str
    kind: str
    origin: str
    scopes: list[str]
    created_at: int
    last_used_at: int


class Approvers(WireModel):
    """All paired clients, the last used first."""

    approvers: list[ClientView]


class PairingCode(WireModel):
    """A short code to type into the client that is to be paired."""

    code: str
    expires_in_s: int


class PairBody(StrictModel):
    """What a client shows: the code that a person typed into it, what it is, and what it would like to be allowed."""

    code: Annotated[str, Field(min_length=1, max_length=40)]
    name: Annotated[str, Field(min_length=1, max_length=64)]
    kind: PairedKind = "program"
    scopes: Scopes = frozenset()


class Ticket(WireModel):
    """By this the client gets its key, once a person has confirmed it in the approval view or at the terminal."""

    pairing_id: str
    ticket: str
    expires_at: int


class TicketBody(StrictModel):
    """A client that comes for its key."""

    ticket: Annotated[str, Field(min_length=1, max_length=100)]


class PairedKey(WireModel):
    """`waiting`: nobody has decided yet, ask again. `paired`: the key, shown this once, with its scopes."""

    state: Literal["waiting", "paired"]
    name: str | None = None
    key: str | None = None
    scopes: list[str] | None = None


class PairingDecision(StrictModel):
    """The person's word on one client; to pair it takes at least one scope."""

    approved: bool
    scopes: Scopes = frozenset()


class Done(WireModel):
    """It was done."""

    ok: bool


async def list_approvers(exchange: Exchange) -> Answer:
    """Send the paired clients."""
    found = [
        ClientView(
            name=known.name,
            kind=known.kind,
            origin=known.origin,
            scopes=sorted(known.scopes),
            created_at=known.created_at_ms,
            last_used_at=known.last_used_at_ms,
        )
        for known in exchange.core.store.client_keys.list_clients()
    ]
    return Answer(to_json(Approvers(approvers=found)))


async def create_pairing_code(exchange: Exchange) -> Answer:
    """Create a short pairing code; only for the user."""
    return Answer(to_json(PairingCode(code=exchange.core.pairings.create_code(), expires_in_s=CODE_SECONDS)))


async def request_pairing(exchange: Exchange) -> Answer:
    """Accept a client's code, and ask the user to decide on the client."""
    body: PairBody = exchange.body
    # a browser sets the origin, and pages cannot change it; a program may send any value
    origin = exchange.request.headers.get(hdrs.ORIGIN, "")
    try:
        requested = PairingRequest(body.name, body.kind, origin, body.scopes)
        pairing, ticket = exchange.core.pairings.request_pairing(body.code, requested)
    except ToolError as exc:
        if exc.type == "invalid_code":
            exchange.parts.hits.add("wrong_code")
        raise
    answer = Ticket(pairing_id=pairing.pairing_id, ticket=ticket, expires_at=pairing.expires_at_ms)
    return Answer(to_json(answer), 202)


async def wait_for_key(exchange: Exchange) -> Answer:
    """Wait for the user's decision, and send the key."""
    taken = await exchange.core.pairings.wait_for_key(exchange.body.ticket, PAIRING_POLL_SECONDS)
    if taken is None:
        return Answer(to_json(PairedKey(state="waiting")))
    answer = PairedKey(state="paired", name=taken.name, key=taken.key, scopes=sorted(taken.scopes))
    return Answer(to_json(answer))


async def decide_pairing(exchange: Exchange) -> Answer:
    """Pair a client with the scopes that the user chose, or refuse it."""
    body: PairingDecision = exchange.body
    if body.approved and not body.scopes:
        raise ToolError("invalid_body", "scopes: choose at least one of approve, chat, tab, or refuse the client")
    scopes = body.scopes if body.approved else frozenset[KeyScope]()
    exchange.core.pairings.decide_pairing(exchange.path_values["id"], scopes, exchange.principal.name)
    return Answer(to_json({"ok": True}))


async def revoke_approver(exchange: Exchange) -> Answer:
    """Revoke a client's key and stop its calls and turns. Needs no confirmation: it only revokes permissions."""
    name = exchange.path_values["name"]
    parts = exchange.parts
    principal = exchange.core.store.client_keys.get_client(name).principal
    sessions = await exchange.core.revoke_client(name, lambda: parts.live_connections.end_connections(principal))
    for session_id in sessions:
        parts.chat.sessions.stop_turn_soon(session_id)
    row = make_notice_row("approver_revoked", name=name)
    by = exchange.principal
    exchange.core.store.record.append(row._replace(principal_kind=by.kind, principal_id=by.id))
    exchange.core.events.publish("approvers.changed", {"name": name, "outcome": "approver_revoked"})
    return Answer(to_json({"ok": True}))


APPROVAL_ROUTES = (
    ServerRoute("GET", "/api/approvers", list_approvers, "Paired clients and their scopes.", answer=Approvers),
    ServerRoute(
        "POST",
        "/api/approvers/code",
        create_pairing_code,
        "Make a short code by which one client can ask to be paired, once, within ten minutes. For a person in the "
        "approval view.",
        action="pair",
        answer=PairingCode,
    ),
    ServerRoute(
        "POST",
        "/api/pairings/{id}/decision",
        decide_pairing,
        "Pair a client that waits, with the scopes that the person chose, or refuse it.",
        action="pair",
        body=PairingDecision,
        answer=Done,
    ),
    ServerRoute(
        "DELETE",
        "/api/approvers/{name}",
        revoke_approver,
        "End all that a client may do, and the connections and turns that go on for it.",
        action="revoke",
        answer=Done,
    ),
)

ROUTES = (
    *APPROVAL_ROUTES,
    ServerRoute(
        "POST",
        "/api/approvers",
        request_pairing,
        "Ask to be paired, with a short code. A person confirms it and chooses the scopes; the ticket gets the key.",
        action=None,
        body=PairBody,
        answer=Ticket,
        limit_bytes=LOGIN_BODY_BYTES,
        is_for_extensions=True,
    ),
    ServerRoute(
        "POST",
        "/api/approvers/key",
        wait_for_key,
        "Wait for the person's word, up to 25 seconds, and get the key: once.",
        action=None,
        body=TicketBody,
        answer=PairedKey,
        limit_bytes=LOGIN_BODY_BYTES,
        is_for_extensions=True,
    ),
)
