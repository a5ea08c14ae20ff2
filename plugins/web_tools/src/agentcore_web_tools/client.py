"""`WebClient`: GET requests over guarded connections, with limits for size, time and redirects."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urljoin

import aiohttp
from yarl import URL

from agentcore.api import ToolError, UrlPolicy
from agentcore_web_tools.connection_errors import convert_error
from agentcore_web_tools.guard import Guard

REDIRECTS = 10
"""Maximum number of redirects that are followed."""

CONNECT_SECONDS = 10.0
"""Time limit for establishing a connection, including TLS."""

_REDIRECTING = frozenset((301, 302, 303, 307, 308))
_HEADER_BYTES = 32_768
_ENCODINGS = frozenset(("", "identity", "gzip", "x-gzip", "deflate", "br", "zstd"))


@dataclass(frozen=True, slots=True)
class Redirect:
    """An address that redirected to another one, and its status."""

    status: int
    url: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's response.

    Args:
        url: The final address, after redirects.
        status: HTTP status.
        headers: Headers, with names in lower case.
        body: The decompressed body, up to the limit.
        redirects: The addresses that redirected, first to last.
        cut: Why the body is incomplete; empty if it is complete.
        size_bytes: Size of the complete body if the server declared it.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    redirects: tuple[Redirect, ...] = ()
    cut: str = ""
    size_bytes: int | None = None


@dataclass(slots=True)
class _Exchange:
    """The progress of an exchange; data that was received remains available after a timeout."""

    policy: UrlPolicy
    url: str
    redirects: list[Redirect] = field(default_factory=list)
    response: aiohttp.ClientResponse | None = None
    body: bytearray = field(default_factory=bytearray)
    is_whole: bool = False


class WebClient:
    """Fetches documents for the tools.

    Each exchange has its own connections and cookies, so that no state of one page is sent to the next.

    Args:
        policy: Decides which addresses may be opened.
        user_agent: The `User-Agent` header.
        limit_bytes: Maximum size of a decompressed body.
        timeout_s: Time limit of one exchange, including redirects and body.
    """

    def __init__(self, policy: UrlPolicy, *, user_agent: str, limit_bytes: int, timeout_s: float) -> None:
        self._policy = policy
        self._user_agent = user_agent
        self._limit_bytes = limit_bytes
        self._timeout_s = timeout_s

    async def get(
        self, url: str, headers: Mapping[str, str], *, follow: bool = True, session_id: str | None = None
    ) -> Reply:
        """Fetch a document.

        Args:
            url: Any address.
            headers: Headers in addition to the client's own.
            follow: True to follow redirects; each is checked like the address itself.
            session_id: The session whose services may be opened; None: no services.
        Returns:
            The response, whatever its status; truncated if it was too large, the time was up or the connection broke.
        Raises:
            ToolError: `url_blocked`, `host_not_found`, `connection_failed`, `tls_error`, `timeout`,
                `too_many_redirects`, `invalid_response`.
        """
        policy = self._policy if session_id is None else self._policy.with_services(session_id)
        way = _Exchange(policy, policy.check(url))
        guard = Guard(self._policy)
        try:
            async with asyncio.timeout(self._timeout_s) as limit, self._open_session(guard) as session:
                await self._follow_redirects(session, guard, way, headers, follow=follow)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as exc:
            if guard.refusal is not None:
                raise guard.refusal from exc
            if not (way.body and isinstance(exc, TimeoutError | aiohttp.ClientPayloadError)):
                raise convert_error(exc, way.url, self._timeout_s) from exc
            why = f"the time of {self._timeout_s:g} s was up" if limit.expired() else "the connection broke off"
            return self._build_reply(way, why)
        return self._build_reply(way, "" if way.is_whole else f"only the first {self._limit_bytes:,} bytes were taken")

    @asynccontextmanager
    async def _open_session(self, guard: Guard) -> AsyncIterator[aiohttp.ClientSession]:
        async with aiohttp.ClientSession(
            connector=guard.create_connector(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            headers={"User-Agent": self._user_agent},
            max_field_size=_HEADER_BYTES,
            max_line_size=_HEADER_BYTES,
        ) as session:
            yield session

    async def _follow_redirects(
        self, session: aiohttp.ClientSession, guard: Guard, way: _Exchange, headers: Mapping[str, str], *, follow: bool
    ) -> None:
        while True:
            # only an address that names loopback itself may lead to a service: another name could change its meaning
            guard.policy = self._policy if way.policy.find_service(way.url) is None else way.policy
            # Already normalised: quoting it again would request another address than the checked one.
            target = URL(way.url, encoded=True)
            async with session.get(target, headers=headers, allow_redirects=False) as response:
                onward = response.headers.get("Location") if response.status in _REDIRECTING else None
                if onward is None or not follow:
                    way.response = response
                    await self._read_body(response, way)
                    return
            self._add_redirect(way, response.status, onward)

    def _add_redirect(self, way: _Exchange, status: int, onward: str) -> None:
        if len(way.redirects) >= REDIRECTS:
            message = f"{way.redirects[0].url!r} was redirected more than {REDIRECTS} times, last to {way.url!r}."
            raise ToolError("too_many_redirects", message, url=way.url)
        following = way.policy.check(urljoin(way.url, onward))
        way.redirects.append(Redirect(status, way.url))
        way.url = following

    async def _read_body(self, response: aiohttp.ClientResponse, way: _Exchange) -> None:
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            message = f"{way.url!r} answered with the content encoding {encoding!r}, which is not understood here."
            raise ToolError("invalid_response", message, url=way.url)
        async for chunk in response.content.iter_any():
            room = self._limit_bytes - len(way.body)
            way.body += chunk[:room]
            if len(chunk) > room:
                return
        way.is_whole = True

    def _build_reply(self, way: _Exchange, cut: str) -> Reply:
        response = way.response
        assert response is not None  # noqa: S101 - a walk that did not fail ends with one
        headers = {name.lower(): value for name, value in response.headers.items()}
        declared = headers.get("content-length", "")
        is_plain = not headers.get("content-encoding")
        return Reply(
            url=way.url,
            status=response.status,
            headers=headers,
            body=bytes(way.body),
            redirects=tuple(way.redirects),
            cut=cut,
            size_bytes=int(declared) if declared.isascii() and declared.isdigit() and is_plain else None,
        )


def status_phrase(status: int) -> str:
    """Return a status with its standard phrase instead of the server's: `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
