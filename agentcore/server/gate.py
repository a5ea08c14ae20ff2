"""The one place that decides whether a request comes in: Host, then Origin, then who asks."""

import hmac
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import hdrs, web
from multidict import CIMultiDictProxy, istr
from pydantic import SecretStr

from agentcore.api.context import Principal, PrincipalKind
from agentcore.server.addresses import Addresses
from agentcore.server.http.bounds import Hits
from agentcore.server.http.refusal import Refusal
from agentcore.store.credentials import KEY_PREFIX, ClientKeys, PageSessions

SESSION_HEADER = istr("X-Agentcore-Session")
"""Carries the page's half of its session that is no cookie."""

SESSION_PROTOCOL = "agentcore.session."
"""Begins the WebSocket subprotocol that carries the same."""

SOCKET_PROTOCOL = "agentcore"
"""The WebSocket subprotocol that the server picks."""

ANYBODY = Principal("page", "")
"""Who asks at a route that is open to all; no right hangs on it."""

_TOKEN = Principal("token")
_SEC_FETCH_SITE = istr("Sec-Fetch-Site")
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_SITES_WRITING = frozenset((None, "same-origin"))
_SITES_READING = frozenset((None, "same-origin", "none"))
_COOKIES_LOOKED_AT = 4


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens one origin.

    Args:
        sessions: Browsers that are logged in to it.
        session_kind: What such a browser is.
        token: The API token; None: it opens nothing here.
        client_keys: Keys of paired clients; None: they open nothing here.
        hint: What to show, for whoever shows nothing that counts.
    """

    sessions: PageSessions
    session_kind: PrincipalKind
    token: SecretStr | None = None
    client_keys: ClientKeys | None = None
    hint: str = "show the API token as `Authorization: Bearer …`, or log in to the page with a one-time code"


class Gate:
    """Lets a request in, or refuses it.

    Args:
        addresses: What the origin answers to.
        credentials: What opens it.
        hits: Counts what is refused.
    """

    def __init__(self, addresses: Addresses, credentials: Credentials, hits: Hits) -> None:
        self._addresses, self.credentials, self._hits = addresses, credentials, hits
        token = credentials.token
        self._bearer = None if token is None else f"Bearer {token.get_secret_value()}".encode()
        self._cookie = addresses.cookie_name

    def check_origin(self, request: web.BaseRequest, *, is_api: bool) -> None:
        """Refuse what a page of another origin sends, or what is meant for another host.

        Args:
            request: The request.
            is_api: Whether the path is part of the API; documents and scripts may be asked for by any navigation.
        Raises:
            Refusal: `misdirected_request`, `foreign_origin`.
        """
        headers = request.headers
        hosts = headers.getall(hdrs.HOST, ())
        if len(hosts) != 1 or hosts[0].lower() not in self._addresses.allowed:
            raise self._misdirected(hosts)
        origins = headers.getall(hdrs.ORIGIN, ())
        if origins and (len(origins) != 1 or origins[0] not in self._addresses.origins):
            raise self._foreign("Origin", origins[0])
        site = headers.get(_SEC_FETCH_SITE)
        if request.method not in _SAFE_METHODS:
            if site not in _SITES_WRITING:
                raise self._foreign("Sec-Fetch-Site", site)
        elif is_api and site not in _SITES_READING:
            raise self._foreign("Sec-Fetch-Site", site)

    async def identify(self, request: web.BaseRequest) -> Principal:
        """Who asks, by the credential that the request shows.

        Raises:
            Refusal: `unauthorized`.
        """
        headers = request.headers
        authorization = headers.get(hdrs.AUTHORIZATION)
        if authorization is not None:
            return await self._bearer_of(authorization)
        cookie = headers.get(hdrs.COOKIE)
        if cookie is not None and (value := session_value(headers)) is not None:
            for half in _cookies_named(self._cookie, cookie):
                if (session := await self.credentials.sessions.check(half, value)) is not None:
                    return Principal(self.credentials.session_kind, session)
        raise self._unauthorized(self.credentials.hint)

    async def _bearer_of(self, authorization: str) -> Principal:
        shown = authorization.encode("utf-8", "surrogateescape")
        if self._bearer is not None and hmac.compare_digest(shown, self._bearer):
            return _TOKEN
        scheme, _, key = authorization.partition(" ")
        keys = self.credentials.client_keys
        if keys is not None and scheme == "Bearer" and key.startswith(KEY_PREFIX):
            client = await keys.find(key)
            if client is not None:
                return client
        raise self._unauthorized("the Authorization header holds nothing that is valid here")

    def wants_redirect(self, request: web.BaseRequest) -> bool:
        """Whether a document is asked for at a second name of this machine, where a session would be another one."""
        return request.headers.get(hdrs.HOST, "").lower() == self._addresses.redirected

    def _misdirected(self, hosts: list[str] | tuple[str, ...]) -> Refusal:
        self._hits.add("misdirected_request")
        said = repr(hosts[0][:100]) if len(hosts) == 1 else f"given {len(hosts)} times"
        return Refusal(
            HTTPStatus.MISDIRECTED_REQUEST,
            "misdirected_request",
            f"the Host header is {said}, and this server answers to {', '.join(sorted(self._addresses.allowed))}; "
            'further names stand in app.json under "server": {"hosts": […]}',
            closes=True,
        )

    def _foreign(self, header: str, value: str | None) -> Refusal:
        self._hits.add("foreign_origin")
        return Refusal(
            HTTPStatus.FORBIDDEN,
            "foreign_origin",
            f"{header} is {(value or '')[:100]!r}: pages of other origins may not use this server",
            header=header,
        )

    def _unauthorized(self, message: str) -> Refusal:
        self._hits.add("unauthorized")
        return Refusal(
            HTTPStatus.UNAUTHORIZED,
            "unauthorized",
            message,
            headers={hdrs.WWW_AUTHENTICATE: 'Bearer realm="agentcore"'},
        )


def session_value(headers: CIMultiDictProxy[str]) -> str | None:
    """The page's half of its session: from the header, or from the subprotocols that a WebSocket offers."""
    value = headers.get(SESSION_HEADER)
    if value is not None or hdrs.SEC_WEBSOCKET_PROTOCOL not in headers:
        return value
    for protocol in headers[hdrs.SEC_WEBSOCKET_PROTOCOL].split(","):
        if (offered := protocol.strip()).startswith(SESSION_PROTOCOL):
            return offered[len(SESSION_PROTOCOL) :]
    return None


def _cookies_named(name: str, header: str) -> list[str]:
    """Values of one cookie; another server of this machine may have set a second one of that name."""
    pairs = (part.partition("=") for part in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name][:_COOKIES_LOOKED_AT]
