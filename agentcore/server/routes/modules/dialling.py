"""Routes for hosts on other machines: they dial in, and the user pairs, drains, disconnects and unpairs them."""

from http import HTTPStatus
from typing import Annotated

from aiohttp import web
from pydantic import Field

from agentcore.core.approvals.definition_review import definition_text
from agentcore.core.approvals.host_pairings import HostOffer, HostPairing, OfferedModule
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.hosts.wire.frames import PROTOCOL
from agentcore.hosts.wire.web_socket_link import (
    CLOSE_SECONDS,
    HEARTBEAT_SECONDS,
    MESSAGE_BYTES,
    SOCKET_PATH,
    UNPAIRED_MESSAGE_BYTES,
)
from agentcore.server.addresses import is_loopback
from agentcore.server.body_models import StrictModel, WireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import SECURITY_HEADERS, Answer
from agentcore.server.http.server_limits import LOGIN_BODY_BYTES
from agentcore.server.modules.host_views import HostList, HostView, hosts_of
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.host_keys import KnownHost
from agentcore.store.record.call_row import make_notice_row

_ADDRESS_CHARS = 100


class CodeBody(StrictModel):
    """The code that `agentcore host` shows on the other machine."""

    code: Annotated[str, Field(min_length=1, max_length=40)]


class OfferedToolView(WireModel):
    """A tool that a host would bring, in its own words."""

    name: str
    description: str
    effects: list[str]
    definition: Annotated[
        str, Field(description="All of it that models or approvals go by: description, schemas, effects, hints.")
    ]


class OfferedModuleView(WireModel):
    """A module that a host would bring, in its own words."""

    name: str
    title: str
    description: str
    instructions: Annotated[str, Field(description="What models would be sent about it.")]
    tools: list[OfferedToolView]
    problems: Annotated[list[str], Field(description="Why definitions of its tools are left out, a sentence each.")]


class HostPairingView(WireModel):
    """A host that waits to be let in: all but its address is what it says of itself."""

    pairing_id: str
    name: str
    address: Annotated[str, Field(description="Where it dialled in from.")]
    platform: str
    version: str
    workspace: Annotated[list[str], Field(description="The folders there that its tools may touch.")]
    replaces: Annotated[
        bool, Field(description="Whether a host of this name was let in before, and is forgotten then.")
    ]
    expires_at: int
    modules: list[OfferedModuleView]


class DecisionBody(StrictModel):
    """The person's word on one host."""

    accept: bool
    chats: Annotated[bool, Field(description="Whether it may use chats; revocable.")] = False


class DrainBody(StrictModel):
    """Whether nothing new goes to a host."""

    on: bool


class ChatsBody(StrictModel):
    """Whether a host may use chats."""

    on: bool


class Done(WireModel):
    """It was done."""

    ok: bool


async def dial_in(exchange: Exchange) -> web.WebSocketResponse:
    """Serve a host over a WebSocket: with its key, or without one, to be paired."""
    request = exchange.request
    known = exchange.parts.gate.identify_host(request)
    if known is not None:
        await hosts_of(exchange.core.places).machines.check_may_connect(known)
        return await _serve_connection(exchange, known)
    try:
        with exchange.core.host_pairings.count_connection(_source_address(request)):
            return await _serve_connection(exchange, None)
    except ToolError as exc:
        if exc.type != "too_many_waiting":
            raise
        exchange.parts.hits.add("unpaired_hosts")
        raise Refusal(
            HTTPStatus.TOO_MANY_REQUESTS, exc.type, exc.message, retryable=True, closes=True, limit=exc.context["limit"]
        ) from None


async def _serve_connection(exchange: Exchange, known: KnownHost | None) -> web.WebSocketResponse:
    """Serve a connection of a paired host, or of one that asks to be paired."""
    request = exchange.request
    parts = exchange.parts
    machines = hosts_of(exchange.core.places).machines
    # no compression before authentication: decompressed data may take much more memory
    socket = web.WebSocketResponse(
        max_msg_size=UNPAIRED_MESSAGE_BYTES if known is None else MESSAGE_BYTES,
        heartbeat=HEARTBEAT_SECONDS,
        timeout=CLOSE_SECONDS,
        protocols=(PROTOCOL,),
        compress=known is not None,
    )
    socket.headers.update(SECURITY_HEADERS)
    if not socket.can_prepare(request):
        raise Refusal(
            HTTPStatus.UPGRADE_REQUIRED,
            "upgrade_required",
            "hosts on other machines talk over a WebSocket here; start one with: agentcore host --server URL",
            headers={"Upgrade": "websocket"},
        )
    await socket.prepare(request)

    def end() -> None:
        if (transport := exchange.connection.transport) is not None:
            transport.abort()

    # when the server stops, it does not wait for hosts that fail to close in order
    parts.streams.add(end)
    try:
        await machines.serve_connection(known, socket, _format_peer_address(request))
    finally:
        parts.streams.discard(end)
    return socket


def _format_peer_address(request: web.BaseRequest) -> str:
    """Return the address from which a host dials in, for display: a reverse proxy names it, and may be deceived."""
    peer = request.remote or ""
    via = request.headers.get("X-Forwarded-For", "").strip()
    return f"{via} (by way of {peer})"[:_ADDRESS_CHARS] if via else peer


def _source_address(request: web.BaseRequest) -> str:
    """Return the address to count a connection for: behind a proxy on this machine, the one that the proxy saw."""
    peer = request.remote or ""
    seen_by_proxy = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return seen_by_proxy[:_ADDRESS_CHARS] if seen_by_proxy and is_loopback(peer) else peer


async def find_pairing(exchange: Exchange) -> Answer:
    """Send the host that shows a code."""
    try:
        pairing, offer = await exchange.core.host_pairings.find_by_code(exchange.body.code)
    except ToolError as exc:
        if exc.type == "invalid_code":
            exchange.parts.hits.add("wrong_code")
        # the user who enters it is logged in and stays so: 401 is for codes that log in
        raise Refusal(HTTPStatus.BAD_REQUEST, exc.type, exc.message) from None
    return Answer(to_json(_to_pairing_view(pairing, offer)))


async def decide_pairing(exchange: Exchange) -> Answer:
    """Pair a host, or refuse it."""
    by = exchange.principal.name
    body: DecisionBody = exchange.body
    await exchange.core.host_pairings.decide_pairing(
        exchange.path_values["id"], by, accepts=body.accept, may_use_chats=body.chats
    )
    return Answer(to_json({"ok": True}))


async def drain_host(exchange: Exchange) -> Answer:
    """Drain a host, or let it accept new work again."""
    name = exchange.path_values["name"]
    await hosts_of(exchange.core.places).require_machine(name).set_drained(is_on=exchange.body.on)
    return Answer(to_json(exchange.parts.host_views.show_host(name)))


async def disconnect_host(exchange: Exchange) -> Answer:
    """Close a host's connection, and refuse it until it may reconnect."""
    name = exchange.path_values["name"]
    await hosts_of(exchange.core.places).require_machine(name).disconnect()
    return Answer(to_json(exchange.parts.host_views.show_host(name)))


async def reconnect_host(exchange: Exchange) -> Answer:
    """Allow a disconnected host to connect again."""
    name = exchange.path_values["name"]
    await hosts_of(exchange.core.places).require_machine(name).allow_reconnect()
    return Answer(to_json(exchange.parts.host_views.show_host(name)))


async def allow_chats(exchange: Exchange) -> Answer:
    """Allow a host to use chats, once the user confirms it, or revoke that at once."""
    core = exchange.core
    name = exchange.path_values["name"]
    by = exchange.principal
    is_on = exchange.body.on
    machines = hosts_of(core.places).machines
    machines.require_machine(name)

    async def apply() -> None:
        await machines.allow_chats(name, is_on=is_on)
        row = make_notice_row("host_chats_allowed" if is_on else "host_chats_refused", name=name)
        core.store.record.append(row._replace(principal_kind=by.kind, principal_id=by.id))

    if is_on:
        sign = (name, "+ reads conversations, replaces summaries and to-do lists, uses models, runs sub-agents")
        await change_policy(core.policy_changes, by, Proposal("host_chats", name, (), (sign,)), apply)
    else:
        await apply()
    return Answer(to_json(exchange.parts.host_views.show_host(name)))


async def delete_host(exchange: Exchange) -> Answer:
    """Unpair a host. This needs no confirmation, because it only revokes permissions."""
    name = exchange.path_values["name"]
    by = exchange.principal
    await hosts_of(exchange.core.places).unpair_host(name)
    row = make_notice_row("host_forgotten", name=name)
    exchange.core.store.record.append(row._replace(principal_kind=by.kind, principal_id=by.id))
    return Answer(to_json({"ok": True}))


async def get_hosts(exchange: Exchange) -> Answer:
    """Send all hosts."""
    return Answer(to_json(exchange.parts.host_views.list_hosts()))


def _to_pairing_view(pairing: HostPairing, offer: HostOffer) -> HostPairingView:
    return HostPairingView(
        pairing_id=pairing.pairing_id,
        name=offer.name,
        address=offer.address,
        platform=offer.platform,
        version=offer.version,
        workspace=list(offer.workspace),
        replaces=offer.replaces,
        expires_at=pairing.expires_at_ms,
        modules=[_to_module_view(each) for each in offer.modules],
    )


def _to_module_view(module: OfferedModule) -> OfferedModuleView:
    tools = [
        OfferedToolView(
            name=tool.name,
            description=tool.description,
            effects=sorted(tool.effects),
            definition=definition_text(tool),
        )
        for tool in module.tools
    ]
    return OfferedModuleView(
        name=module.name,
        title=module.title,
        description=module.description,
        instructions=module.instructions,
        tools=tools,
        problems=list(module.problems),
    )


_CHATS = ServerRoute(
    "POST",
    "/api/hosts/{name}/chats",
    allow_chats,
    "Let a host on another machine use chats – read the conversation, replace its summary and to-do list, have its "
    "model write, run sub-agents –, which a person confirms in the approval view; or take that away at once.",
    action="revoke",
    body=ChatsBody,
    answer=HostView,
)

_FORGET = ServerRoute(
    "DELETE",
    "/api/hosts/{name}",
    delete_host,
    "Forget a host on another machine: its key opens nothing any more, and what lives in it is closed.",
    action="revoke",
    answer=Done,
)

ROUTES = (
    ServerRoute(
        "GET",
        SOCKET_PATH,
        dial_in,
        "A WebSocket of the sub-protocol `agentcore.host.1`, by which hosts on other machines dial in (`agentcore "
        "host`): with their key as bearer, or without one to be let in by a person.",
        action=None,
    ),
    ServerRoute(
        "POST",
        "/api/hosts/{name}/drain",
        drain_host,
        "Have nothing new go to a host on another machine, or again: what lives there goes on until it is closed.",
        action="manage_modules",
        body=DrainBody,
        answer=HostView,
    ),
    ServerRoute(
        "POST",
        "/api/hosts/{name}/disconnect",
        disconnect_host,
        "End the connection of a host on another machine, and keep it out until it is let in again.",
        action="manage_modules",
        answer=HostView,
    ),
    ServerRoute(
        "POST",
        "/api/hosts/{name}/connect",
        reconnect_host,
        "Let a host in again that was disconnected; it dials in by itself.",
        action="manage_modules",
        answer=HostView,
    ),
    _CHATS,
    _FORGET,
)

APPROVAL_ROUTES = (
    ServerRoute("GET", "/api/hosts", get_hosts, "The hosts, and how each stands.", answer=HostList),
    _CHATS,
    _FORGET,
    ServerRoute(
        "POST",
        "/api/host-pairings",
        find_pairing,
        "Show the host that shows a code: where it dials in from, and what it says of itself. The error is "
        "`invalid_code`.",
        action="pair",
        body=CodeBody,
        answer=HostPairingView,
        limit_bytes=LOGIN_BODY_BYTES,
    ),
    ServerRoute(
        "POST",
        "/api/host-pairings/{id}/decision",
        decide_pairing,
        "Let a host in with the tools that were shown, or refuse it.",
        action="pair",
        body=DecisionBody,
        answer=Done,
    ),
)
