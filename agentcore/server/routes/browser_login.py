"""Routes for the log-in of browsers: a one-time code becomes a session in two parts, a cookie and a header value."""

from typing import Annotated

from aiohttp import hdrs
from pydantic import BaseModel, ConfigDict, Field

from agentcore.encoding import to_json
from agentcore.server.exchange import Exchange
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.response import Answer
from agentcore.server.http.server_limits import LOGIN_BODY_BYTES
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.page_sessions import IDLE_DAYS, PageSessions

_COOKIE = "{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}"


class LoginBody(BaseModel, defer_build=True):
    """The one-time code from the address that the server printed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[str, Field(min_length=1, max_length=200)]


class Login(BaseModel, defer_build=True):
    """The half of the session that the page keeps and sends as `X-Agentcore-Session`."""

    session: str


class WhoIs(BaseModel, defer_build=True):
    """Who asks: `page`, `token`, `approver` (the approval view) or `client`.

    `id` is that of the browser's session, or the name of the paired client, whose key has `scopes`.
    """

    kind: str
    id: str
    scopes: list[str]


async def log_in(exchange: Exchange) -> Answer:
    """Exchange a one-time code for a session. Wrong codes void the one that they start like, and lock nothing else."""
    session = await _page_sessions(exchange).exchange_code(exchange.body.code)
    if session is None:
        exchange.parts.hits.add("wrong_code")
        raise Refusal(
            401,
            "invalid_code",
            "this code is not valid (any more); type `code` in the terminal of the server for a new one; "
            "for the page, `agentcore open` makes one too",
        )
    return Answer(
        to_json({"session": session.header}),
        headers={hdrs.SET_COOKIE: _format_cookie(exchange, session.cookie, IDLE_DAYS)},
    )


async def log_out(exchange: Exchange) -> Answer:
    """End the session of the browser that sends the request."""
    if exchange.principal.kind != exchange.parts.gate.credentials.session_kind:
        raise Refusal(400, "no_session", "only a browser has a session to end; tokens and keys have none")
    await _page_sessions(exchange).revoke(exchange.principal.id)
    exchange.parts.live_connections.end_connections(exchange.principal, but=exchange.connection)
    return Answer(to_json({"ok": True}), headers={hdrs.SET_COOKIE: _format_cookie(exchange, "", 0)})


async def who_is(exchange: Exchange) -> Answer:
    """Send the principal of the request."""
    who = exchange.principal
    return Answer(to_json({"kind": who.kind, "id": who.id, "scopes": sorted(who.scopes)}))


async def create_code(exchange: Exchange) -> Answer:
    """Create another one-time code for the page. Pages may not: their scripts must not be able to log in others."""
    if exchange.principal.kind != "token":
        raise Refusal(403, "forbidden", "only the API token may make log-in codes: use `agentcore open`")
    return Answer(to_json({"code": _page_sessions(exchange).create_code()}))


async def create_approval_code(exchange: Exchange) -> Answer:
    """Create another one-time code for the approval view: only for a principal that can already approve."""
    return Answer(to_json({"code": _page_sessions(exchange).create_code()}))


def _page_sessions(exchange: Exchange) -> PageSessions:
    sessions = exchange.parts.gate.credentials.sessions
    assert sessions is not None  # noqa: S101 - these routes stand where browsers log in
    return sessions


def _format_cookie(exchange: Exchange, value: str, days: int) -> str:
    is_plain = exchange.request.headers[hdrs.HOST].lower() in exchange.parts.addresses.plain
    return _COOKIE.format(
        name=exchange.parts.gate.credentials.cookie_name,
        value=value,
        seconds=days * 24 * 3600,
        secure="" if is_plain else "; Secure",
    )


class Code(BaseModel, defer_build=True):
    """A code that logs one browser in, once, within ten minutes: open `ADDRESS/#code=CODE`."""

    code: str


_LOG_IN = ServerRoute(
    "POST",
    "/api/session",
    log_in,
    "Log a browser in with a one-time code.",
    action=None,
    body=LoginBody,
    answer=Login,
    limit_bytes=LOGIN_BODY_BYTES,
)
_WHO_IS = ServerRoute(
    "GET", "/api/session", who_is, "Who asks.", action="identify", answer=WhoIs, is_for_extensions=True
)
_LOG_OUT = ServerRoute(
    "DELETE", "/api/session", log_out, "End the session of the browser that asks.", action="identify"
)

ROUTES = (
    _WHO_IS,
    _LOG_IN,
    _LOG_OUT,
    ServerRoute("POST", "/api/session/code", create_code, "Make a one-time code for the page.", answer=Code),
)

APPROVAL_ROUTES = (
    _WHO_IS,
    _LOG_IN,
    _LOG_OUT,
    ServerRoute(
        "POST",
        "/api/session/code",
        create_approval_code,
        "Make a one-time code for the approval view.",
        action="pair",
        answer=Code,
    ),
)
