"""Access control for requests, in one place: checks Host, then Origin, then the credential."""

import hmac
from http import HTTPStatus

from aiohttp import hdrs, web
from multidict import CIMultiDictProxy, istr
from pydantic import SecretStr

from agentcore.api.tool_context import Principal, PrincipalKind
from agentcore.late_dataclasses import dataclass
from agentcore.server.addresses import Addresses
from agentcore.server.http.cross_origin import allow_cross_origin
from agentcore.server.http.refusal import Refusal
from agentcore.server.http.server_limits import Hits
from agentcore.store.credentials.client_keys import KEY_PREFIX, ClientKeys, KnownClient
from agentcore.store.credentials.host_keys import HOST_KEY_PREFIX, HostKeys, KnownHost
from agentcore.store.credentials.page_sessions import PageSessions

SESSION_HEADER = istr("X-Agentcore-Session")
"""Header for the part of a page session that is not a cookie."""

SESSION_PROTOCOL = "agentcore.session."
"""Prefix of the WebSocket subprotocol that carries the same value."""

KEY_PROTOCOL = "agentcore.key."
"""Prefix of the WebSocket subprotocol that carries the key of a paired client, which cannot set headers there."""

SOCKET_PROTOCOL = "agentcore"
"""The WebSocket subprotocol that the server selects."""

ANYBODY = Principal("page", "")
"""The principal at routes that are open to everyone; no right depends on it."""

_TOKEN = Principal("token")
_SEC_FETCH_SITE = istr("Sec-Fetch-Site")
_SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_SITES_WRITING = frozenset((None, "same-origin"))
_SITES_READING = frozenset((None, "same-origin", "none"))
# `none`: from an extension that its user lets read pages of this host, for example because a tab of it is shared
_SITES_OF_EXTENSIONS = frozenset((None, "cross-site", "none"))
_EXTENSION_SCHEME = "chrome-extension://"
_OF_EXTENSION = web.RequestKey("of_extension", bool)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials that are valid at one origin.

    Args:
        sessions: Sessions of logged-in browsers; None: browsers cannot log in.
        session_kind: Kind of principal of such a browser.
        cookie_name: Name of such a browser's cookie.
        token: The API token; None: it is not valid at this origin.
        client_keys: Keys of paired clients; None: they are not valid at this origin.
        extensions: Ids of browser extensions that may send requests, each with a key that was paired from it.
        host_keys: Keys of hosts on other machines; None: they cannot dial in at this origin.
        hint: Message for a request without a valid credential; says which one to send.
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
    """Accepts or refuses requests.

    Args:
        addresses: Addresses that the origin answers to.
        credentials: Credentials that are valid at it.
        hits: Counts refusals.
    """

    def __init__(self, addresses: Addresses, credentials: Credentials, hits: Hits) -> None:
        self._addresses = addresses
        self.credentials = credentials
        self._hits = hits
        token = credentials.token
        self._bearer = None if token is None else f"Bearer {token.get_secret_value()}".encode()
        self._extensions = frozenset(_EXTENSION_SCHEME + extension for extension in credentials.extensions)

    def check_origin(self, request: web.BaseRequest, *, is_api: bool) -> bool:
        """Refuse requests from pages of other origins, and requests meant for another host.

        Args:
            request: The request.
            is_api: True if the path is part of the API; any navigation may request documents and scripts.
        Returns:
            True if the Origin is that of an extension. It may read any response; what it may do depends on the route
            (`check_route`) and on its key (`identify_extension`).
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
        """Refuse a request of an extension, known by its origin or its key, at a route that is not open to extensions.

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
        """Return the principal of the credential in the request.

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
        """Return the client that was paired from the extension that sends a request, by its key alone.

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
        """Return the client of a key, if the key is valid for this request."""
        keys = self.credentials.client_keys
        if keys is None or key is None or not key.startswith(KEY_PREFIX):
            return None
        known = await keys.find_by_key(key)
        return known.principal if known is not None and self._is_from_paired_origin(known, request) else None

    def _is_from_paired_origin(self, known: KnownClient, request: web.BaseRequest) -> bool:
        """True if a key is used where it was paired: an extension's in that extension, a program's in no extension."""
        if request.get(_OF_EXTENSION, False):
            return known.origin == request.headers[hdrs.ORIGIN]
        if not known.origin.startswith(_EXTENSION_SCHEME):
            return True
        # Chromium sends no Origin when an extension reads from a host whose pages it may read, but sends
        # `Sec-Fetch-Site: none`, which no page can; when an extension writes, it always sends an Origin
        is_reading = request.method in _SAFE_METHODS and hdrs.ORIGIN not in request.headers
        if not is_reading or request.headers.get(_SEC_FETCH_SITE) != "none" or known.origin not in self._extensions:
            return False
        request[_OF_EXTENSION] = True
        return True

    def identify_host(self, request: web.BaseRequest) -> KnownHost | None:
        """Return the host that dials in from another machine, by its key; None if it sends no key, to ask for pairing.

        Raises:
            Refusal: `unauthorized`; `foreign_origin`: The request is from a browser.
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
        """True if a document is requested under the second name of this machine, which would have separate sessions."""
        return request.headers.get(hdrs.HOST, "").lower() == self._addresses.redirected

    def _misdirected_refusal(self, hosts: list[str] | tuple[str, ...]) -> Refusal:
        self._hits.add("misdirected_request")
        message = repr(hosts[0][:100]) if len(hosts) == 1 else f"given {len(hosts)} times"
        return Refusal(
            HTTPStatus.MISDIRECTED_REQUEST,
            "misdirected_request",
            f"the Host header is {message}, and this server answers to {', '.join(sorted(self._addresses.allowed))}; "
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
    """Return the page's part of its session, from the header or from the subprotocols that a WebSocket offers."""
    value = headers.get(SESSION_HEADER)
    return _read_subprotocol(headers, SESSION_PROTOCOL) if value is None else value


def _read_subprotocol(headers: CIMultiDictProxy[str], prefix: str) -> str | None:
    """Return what follows a prefix in the subprotocols that a WebSocket offers."""
    for protocol in headers.get(hdrs.SEC_WEBSOCKET_PROTOCOL, "").split(","):
        if (offered := protocol.strip()).startswith(prefix):
            return offered[len(prefix) :]
    return None


def _key_in(authorization: str) -> str | None:
    scheme, _, key = authorization.partition(" ")
    return key if scheme == "Bearer" else None


def _cookies_named(name: str, header: str) -> list[str]:
    """Return all values of one cookie.

    Another server on this machine may have set more cookies of that name, and each value is tried; the size limit of
    request headers limits their number.
    """
    pairs = (part.partition("=") for part in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]
