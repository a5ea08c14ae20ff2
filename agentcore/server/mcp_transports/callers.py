"""Creates the `Caller` for an MCP client from its request."""

from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus

from aiohttp import hdrs

from agentcore.api import Principal
from agentcore.config.app_json import ClientConfig
from agentcore.config.loading import AppConfig
from agentcore.limits import APPROVAL_SECONDS, MCP_WAIT_SECONDS
from agentcore.mcp_endpoint.caller import Caller, MarkWaiting, Narrowing, patterns_in
from agentcore.server.addresses import counterpart_url
from agentcore.server.exchange import Exchange
from agentcore.server.http.reader import parse_query
from agentcore.server.http.refusal import Refusal
from agentcore.server.mcp_transports.greeting import TOOLS_WAIT_SECONDS_MAX, PipeConnectRequest

_WAIT_DIGITS = 6


def caller_for(
    exchange: Exchange,
    session_id: str,
    narrowing: Narrowing | None = None,
    found: list[str] | None = None,
    listed: list[str] | None = None,
) -> Caller:
    """Return the client that sent a request.

    Args:
        exchange: The request.
        session_id: The session that its calls belong to.
        narrowing: The restrictions that it requested before; None: those in the URL.
        found: The tools that it has found before.
        listed: The tools that were chosen for its list before.
    """
    principal = exchange.principal
    config = (
        exchange.core.config.clients.get(principal.id, ClientConfig()) if principal.kind == "mcp" else ClientConfig()
    )
    return Caller(
        principal,
        session_id,
        approval_url(exchange),
        config,
        narrowing_in(exchange.raw_query) if narrowing is None else narrowing,
        [] if found is None else found,
        [] if listed is None else listed,
    )


def caller_on_pipe(
    config: AppConfig,
    principal: Principal,
    greeting: PipeConnectRequest,
    approval_url: str,
    mark_waiting: MarkWaiting,
) -> Caller:
    """Return the client on a pipe, which has no session yet.

    Args:
        config: The configuration from app.json.
        principal: The client.
        greeting: Its first line.
        approval_url: Where the user decides on its calls.
        mark_waiting: Has the client's relay record which calls only wait.
    """
    wait_s = MCP_WAIT_SECONDS if greeting.wait_s is None else min(max(1.0, greeting.wait_s), APPROVAL_SECONDS)
    narrowing = Narrowing(patterns_in(greeting.tools), wait_s, greeting.tools_wait_s, greeting.waits_silently)
    own = config.clients.get(principal.id, ClientConfig())
    return Caller(principal, "", approval_url, own, narrowing, mark_waiting=mark_waiting)


@lru_cache(maxsize=64)
def narrowing_in(raw_query: str) -> Narrowing:
    """Return the restrictions that a client requests in its URL: `?tools=browser_*,read_file&wait=600&tools_wait=0`.

    Raises:
        Refusal: `invalid_query`.
    """
    query = parse_query(raw_query)
    wait = _parse_seconds(query, "wait", "how long a call may wait for a person")
    tools_wait = _parse_seconds(query, "tools_wait", "how long the list of tools may wait for modules")
    return Narrowing(
        patterns_in(query.get("tools", "")),
        MCP_WAIT_SECONDS if wait is None else min(max(1.0, wait), APPROVAL_SECONDS),
        None if tools_wait is None else min(tools_wait, TOOLS_WAIT_SECONDS_MAX),
        _parse_flag(query, "wait_silently"),
    )


def _parse_seconds(query: Mapping[str, str], name: str, meaning: str) -> float | None:
    given = query.get(name, "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= _WAIT_DIGITS):
        message = f"{name} is {given[:40]!r}; give {meaning}, in seconds"
        raise Refusal(HTTPStatus.BAD_REQUEST, "invalid_query", message)
    return float(given)


def _parse_flag(query: Mapping[str, str], name: str) -> bool:
    given = query.get(name, "0")
    if given not in ("0", "1"):
        raise Refusal(HTTPStatus.BAD_REQUEST, "invalid_query", f"{name} is {given[:40]!r}; give 1 or 0")
    return given == "1"


def approval_url(exchange: Exchange) -> str:
    """Return the URL at which the user decides on calls: the approval view, or the page if there is none."""
    parts = exchange.parts
    if parts.counterpart is None:
        return parts.addresses.base_url
    return counterpart_url(parts.addresses, exchange.request.headers.get(hdrs.HOST, ""), parts.counterpart)
