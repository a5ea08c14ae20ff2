"""The page's log-in: a one-time code becomes a session of two halves, a cookie and a header value."""

from typing import Annotated

from aiohttp import hdrs
from pydantic import BaseModel, ConfigDict, Field

from agentcore.server.answer import Answer
from agentcore.server.bounds import LOGIN_BODY_BYTES
from agentcore.server.exchange import Exchange
from agentcore.server.refusal import Refusal, to_json
from agentcore.server.route_table import ServerRoute
from agentcore.store.page_sessions import IDLE_DAYS

_COOKIE = "{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}"


class LoginBody(BaseModel):
    """The one-time code from the address that the server printed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[str, Field(min_length=1, max_length=200)]


class Login(BaseModel):
    """The half of the session that the page keeps and sends as `X-Agentcore-Session`."""

    session: str


class WhoIs(BaseModel):
    """Who asks: `page` or `token`, and the id of the page session."""

    kind: str
    id: str


async def log_in(exchange: Exchange) -> Answer:
    """Exchange a one-time code for a session; wrong codes are counted, and too many of them close the door a while."""
    session = await exchange.host.store.page_sessions.exchange(exchange.body.code)
    if session is None:
        exchange.parts.hits.add("wrong_code")
        raise Refusal(
            401, "invalid_code", "this code is not valid (any more); get a new one with `agentcore open` or a restart"
        )
    return Answer(
        to_json({"session": session.header}), headers={hdrs.SET_COOKIE: _cookie(exchange, session.cookie, IDLE_DAYS)}
    )


async def log_out(exchange: Exchange) -> Answer:
    """End the page session that asks."""
    if exchange.principal.kind != "page":
        raise Refusal(400, "no_session", "only a page has a session to end; the token has none")
    await exchange.host.store.page_sessions.revoke(exchange.principal.id)
    return Answer(to_json({"ok": True}), headers={hdrs.SET_COOKIE: _cookie(exchange, "", 0)})


async def who_is(exchange: Exchange) -> Answer:
    """Tell who asks."""
    return Answer(to_json({"kind": exchange.principal.kind, "id": exchange.principal.id}))


async def create_code(exchange: Exchange) -> Answer:
    """Make a further one-time code for the page. A page cannot: its scripts must not open a door for others."""
    if exchange.principal.kind != "token":
        raise Refusal(403, "forbidden", "only the API token may make log-in codes: use `agentcore open`")
    return Answer(to_json({"code": exchange.host.store.page_sessions.create_code()}))


def _cookie(exchange: Exchange, value: str, days: int) -> str:
    is_plain = exchange.request.headers[hdrs.HOST].lower() in exchange.parts.addresses.plain
    return _COOKIE.format(
        name=exchange.parts.addresses.cookie_name,
        value=value,
        seconds=days * 24 * 3600,
        secure="" if is_plain else "; Secure",
    )


class Code(BaseModel):
    """A code that logs one browser in, once, within ten minutes: open `ADDRESS/#code=CODE`."""

    code: str


ROUTES = (
    ServerRoute("GET", "/api/session", who_is, "Who asks.", answer=WhoIs),
    ServerRoute(
        "POST",
        "/api/session",
        log_in,
        "Log a page in with a one-time code.",
        action=None,
        body=LoginBody,
        answer=Login,
        limit_bytes=LOGIN_BODY_BYTES,
    ),
    ServerRoute("DELETE", "/api/session", log_out, "End the page session that asks."),
    ServerRoute("POST", "/api/session/code", create_code, "Make a one-time code for the page.", answer=Code),
)
