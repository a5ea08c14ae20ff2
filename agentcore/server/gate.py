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
from agentcore.server.http.cross_origin import allow_cross_origin
from agentcore.server.http.refusal import Refusal
from agentcore.store.credentials import (
    HOST_KEY_PREFIX,
    KEY_PREFIX,
    ClientKeys,
    HostKeys,
    KnownClient,
    KnownHost,
    PageSessions,
)

SESSION_HEADER = istr("X-Agentcore-Session")
"""Carries the page's half of its session that is no cookie."""

SESSION_PROTOCOL = "agentcore.session."
"""Begins the WebSocket subprotocol that carries the same."""

KEY_PROTOCOL = "agentcore.key."
"""Begins the one that carries the key of a paired client, which cannot send a header of its own there."""

SOCKET_PROTOCOL = "agentcore"
"""The WebSocket subprotocol that the server picks."""

ANYBODY = Principal("page", "")
"""Who asks at a route that is open to all; no right hangs on it."""

_TOKEN = Principal("token")
_SEC_FETCH_SITE = istr("Sec-Fetch-Site")
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_SITES_WRITING = frozenset((None, "same-origin"))
_SITES_READING = frozenset((None, "same-origin", "none"))
# `none`: of an extension that its person lets read pages of this host, as where a tab of it is shared
_SITES_OF_EXTENSIONS = frozenset((None, "cross-site", "none"))
_EXTENSION_SCHEME = "chrome-extension://"
_OF_EXTENSION = web.RequestKey("of_extension", bool)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens one origin.

    Args:
        sessions: Browsers that are logged in to it; None: nobody can be.
        session_kind: What such a browser is.
        cookie_name: The cookie that such a browser shows.
        token: The API token; None: it opens nothing here.
        client_keys: Keys of paired clients; None: they open nothing here.
        extensions: Ids of browser extensions that may ask here, each with a key that was paired from it.
        host_keys: Keys of hosts on other machines; None: they cannot dial in here.
        hint: What to show, for whoever shows nothing that counts.
    """

    sessions: PageSessions | None
    session_kind: PrincipalKind
    cookie_name: str = ""
    token: SecretStr | None = None
    client_keys: ClientKeys | None = None
    extensions: tuple[str, ...] = ()
    host_keys: HostKeys | None = None
    hint: str = "show the API token as `Authorization: Bearer …`, or log in to the page with a one-time code"


class Gate:
    """Lets a request in, or refuses it.

    Args:
        addresses: What the origin answers to.
        credentials: What opens it.
        hits: Counts what is refused.
    """

    def __init__(self, addresses: Addresses, credentials: Credentials, hits: Hits) -> None:
        self._addresses = addresses
        self.credentials = credentials
        self._hits = hits
        token = credentials.token
        self._bearer = None if token is None else f"Bearer {token.get_secret_value()}".encode()
        self._extensions = frozenset(_EXTENSION_SCHEME + extension for extension in credentials.extensions)

    def check_origin(self, request: web.BaseRequest, *, is_api: bool) -> bool:
        """Refuse what a page of another origin sends, or what is meant for another host.

        Args:
            request: The request.
            is_api: Whether the path is part of the API; documents and scripts may be asked for by any navigation.
        Returns:
            Whether an extension asks, by its origin. It may read the answer whatever that is; what it may do stands
            with the route (`check_route`) and its key (`identify_extension`).
        Raises:
            Refusal: `misdirected_request`, `foreign_origin`.
        """
        headers = request.headers
        hosts = headers.getall(hdrs.HOST, ())
        if len(hosts) != 1 or hosts[0].lower() not in self._addresses.allowed:
            raise self._misdirected_refusal(hosts)
        origins = headers.getall(hdrs.ORIGIN, ())
        site = headers.get(_SEC_FETCH_SITE)
        if origins and (len(origins) != 1 or origins[0] not in self._addresses.origins):
            if len(origins) != 1 or origins[0] not in self._extensions or site not in _SITES_OF_EXTENSIONS:
                raise self._foreign_origin_refusal("Origin", origins[0])
            request[_OF_EXTENSION] = True
            allow_cross_origin(request, origins[0])
            return True
        if request.method not in _SAFE_METHODS:
            if site not in _SITES_WRITING:
                raise self._foreign_origin_refusal("Sec-Fetch-Site", site)
        elif is_api and site not in _SITES_READING:
            raise self._foreign_origin_refusal("Sec-Fetch-Site", site)
        return False

    def check_route(self, request: web.BaseRequest, *, is_for_extensions: bool) -> None:
        """Refuse a request of an extension, known by its origin or by its key, at a route that is for none.

        Raises:
            Refusal: `foreign_origin`.
        """
        if is_for_extensions or not request.get(_OF_EXTENSION, False):
            return
        self._hits.add("foreign_origin")
        raise Refusal(
            HTTPStatus.FORBIDDEN,
            "foreign_origin",
            "browser extensions may use the routes of chats and approvals, and those of modules that are for paired "
            "clients; this is none of them",
            header="Origin",
        )

    async def identify_principal(self, request: web.BaseRequest) -> Principal:
        """Who asks, by the credential that the request shows.

        Raises:
            Refusal: `unauthorized`.
        """
        headers = request.headers
        authorization = headers.get(hdrs.AUTHORIZATION)
        if authorization is not None:
            return await self._bearer_of(authorization, request)
        sessions = self.credentials.sessions
        cookie = headers.get(hdrs.COOKIE)
        if sessions is not None and cookie is not None and (value := session_value(headers)) is not None:
            session = await sessions.authenticate(_cookies_named(self.credentials.cookie_name, cookie), value)
            if session is not None:
                return Principal(self.credentials.session_kind, session)
        if (client := await self._find_client(_read_subprotocol(headers, KEY_PROTOCOL), request)) is not None:
            return client
        raise self._unauthorized_refusal(self.credentials.hint)

    async def identify_extension(self, request: web.BaseRequest) -> Principal:
        """Who asks, where that is an extension: the client that was paired from it, by its key and nothing else.

        Raises:
            Refusal: `unauthorized`.
        """
        authorization = request.headers.get(hdrs.AUTHORIZATION)
        key = _read_subprotocol(request.headers, KEY_PROTOCOL) if authorization is None else _key_in(authorization)
        if (client := await self._find_client(key, request)) is not None:
            return client
        raise self._unauthorized_refusal("an extension shows the key that it was paired with, and no other credential")

    async def _bearer_of(self, authorization: str, request: web.BaseRequest) -> Principal:
        shown = authorization.encode("utf-8", "surrogateescape")
        if self._bearer is not None and hmac.compare_digest(shown, self._bearer):
            return _TOKEN
        if (client := await self._find_client(_key_in(authorization), request)) is not None:
            return client
        raise self._unauthorized_refusal("the Authorization header holds nothing that is valid here")

    async def _find_client(self, key: str | None, request: web.BaseRequest) -> Principal | None:
        """The client of a key, where that counts for a request."""
        keys = self.credentials.client_keys
        if keys is None or key is None or not key.startswith(KEY_PREFIX):
            return None
        known = await keys.find_by_key(key)
        return known.principal if known is not None and self._is_from_paired_origin(known, request) else None

    def _is_from_paired_origin(self, known: KnownClient, request: web.BaseRequest) -> bool:
        """Whether a key comes from where it was paired: an extension's from that extension, a program's from none."""
        if request.get(_OF_EXTENSION, False):
            return known.origin == request.headers[hdrs.ORIGIN]
        if not known.origin.startswith(_EXTENSION_SCHEME):
            return True
        # Chromium gives no Origin to what an extension reads of a host whose pages it may read, but says `none`, which
        # no page can; what it writes has an Origin always
        is_reading = request.method in _SAFE_METHODS and hdrs.ORIGIN not in request.headers
        if not is_reading or request.headers.get(_SEC_FETCH_SITE) != "none" or known.origin not in self._extensions:
            return False
        request[_OF_EXTENSION] = True
        return True

    def identify_host(self, request: web.BaseRequest) -> KnownHost | None:
        """The host on another machine that dials in, by its key; None: it shows none, because it wants to be let in.

        Raises:
            Refusal: `unauthorized`; `foreign_origin`: a browser asks.
        """
        if hdrs.ORIGIN in request.headers:
            raise self._foreign_origin_refusal("Origin", request.headers[hdrs.ORIGIN])
        authorization = request.headers.get(hdrs.AUTHORIZATION)
        if authorization is None:
            return None
        key = _key_in(authorization)
        keys = self.credentials.host_keys
        known = (
            keys.find_by_key(key) if keys is not None and key is not None and key.startswith(HOST_KEY_PREFIX) else None
        )
        if known is None:
            raise self._unauthorized_refusal(
                "this key is none of a host, or that host was forgotten: it has to be let in anew"
            )
        return known

    def must_redirect(self, request: web.BaseRequest) -> bool:
        """Whether a document is asked for at a second name of this machine, where a session would be another one."""
        return request.headers.get(hdrs.HOST, "").lower() == self._addresses.redirected

    def _misdirected_refusal(self, hosts: list[str] | tuple[str, ...]) -> Refusal:
        self._hits.add("misdirected_request")
        said = repr(hosts[0][:100]) if len(hosts) == 1 else f"given {len(hosts)} times"
        return Refusal(
            HTTPStatus.MISDIRECTED_REQUEST,
            "misdirected_request",
            f"the Host header is {said}, and this server answers to {', '.join(sorted(self._addresses.allowed))}; "
            'further names stand in app.json under "server": {"hosts": […]}',
            closes=True,
        )

    def _foreign_origin_refusal(self, header: str, value: str | None) -> Refusal:
        self._hits.add("foreign_origin")
        return Refusal(
            HTTPStatus.FORBIDDEN,
            "foreign_origin",
            f"{header} is {(value or '')[:100]!r}: pages of other origins may not use this server",
            header=header,
        )

    def _unauthorized_refusal(self, message: str) -> Refusal:
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
    return _read_subprotocol(headers, SESSION_PROTOCOL) if value is None else value


def _read_subprotocol(headers: CIMultiDictProxy[str], prefix: str) -> str | None:
    """What follows a prefix among the subprotocols that a WebSocket offers."""
    for protocol in headers.get(hdrs.SEC_WEBSOCKET_PROTOCOL, "").split(","):
        if (offered := protocol.strip()).startswith(prefix):
            return offered[len(prefix) :]
    return None


def _key_in(authorization: str) -> str | None:
    scheme, _, key = authorization.partition(" ")
    return key if scheme == "Bearer" else None


def _cookies_named(name: str, header: str) -> list[str]:
    """Values of one cookie. Another server of this machine may have set more of that name, and all of them count: how
    many there can be is bounded by what a request's headers may take.
    """
    pairs = (part.partition("=") for part in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]
