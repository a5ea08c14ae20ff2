"""The address of an external browser, and how much of it may be shown."""

import base64
import ipaddress
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from agentcore.api import SecretStr

EndpointKind = Literal["cdp", "playwright"]

_TLS = ("https", "wss")
_SHORTEST_SECRET = 4
_LOOPBACK_NAMES = ("localhost", "localdomain", "ip6-localhost", "ip6-loopback")


class EndpointSettings(Protocol):
    """The settings that name an external browser."""

    @property
    def cdp_endpoint(self) -> SecretStr | None: ...
    @property
    def playwright_endpoint(self) -> SecretStr | None: ...


@dataclass(frozen=True)
class Endpoint:
    """The address of a browser or of a Playwright server. All of it but the host and the port may be a secret.

    Args:
        kind: The protocol: the browser's own (CDP), or that of a Playwright server.
        address: The address as written in the settings.
    """

    kind: EndpointKind
    address: SecretStr

    @cached_property
    def _parts(self) -> SplitResult:
        return urlsplit(self.address.get_secret_value())

    @property
    def scheme(self) -> str:
        """`http`, `https`, `ws` or `wss`."""
        return self._parts.scheme

    @property
    def host(self) -> str:
        """The host in lower case."""
        return self._parts.hostname or ""

    @property
    def port(self) -> int:
        """The port; the scheme's default if the address has none."""
        return self._parts.port or (443 if self.is_encrypted else 80)

    @property
    def target(self) -> str:
        """The path and query to request."""
        return urlunsplit(("", "", self._parts.path or "/", self._parts.query, ""))

    @property
    def is_encrypted(self) -> bool:
        """True if the connection is encrypted."""
        return self.scheme in _TLS

    @property
    def is_local(self) -> bool:
        """True if it is on this machine, without resolving names."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The address that the driver connects to, without user and password, which are in `headers`."""
        return urlunsplit(self._parts._replace(netloc=self._parts.netloc.rpartition("@")[2], fragment=""))

    @property
    def headers(self) -> dict[str, str]:
        """The `Authorization` header for the user and password of the address; empty if it has none."""
        login, _, _ = self._parts.netloc.rpartition("@")
        if not login:
            return {}
        return {"Authorization": f"Basic {base64.b64encode(unquote(login).encode()).decode()}"}

    def __str__(self) -> str:
        """Return the address for display, without user, password, path and query: each may grant access."""
        parts = self._parts
        login, _, place = parts.netloc.rpartition("@")
        path = "/…" if parts.path.strip("/") else ""
        return f"{parts.scheme}://{'…@' if login else ''}{place}{path}{'?…' if parts.query else ''}"

    def mask_secrets(self, text: str) -> str:
        """Replace the address's secrets in a message."""
        parts = self._parts
        whole = [self.address.get_secret_value(), self.url, *self.headers.values(), self.target]
        login = parts.netloc.rpartition("@")[0]
        chunks = [
            login,
            *login.split(":"),
            parts.path.strip("/"),
            parts.path.rpartition("/")[2],
            parts.query,
            *_list_query_values(parts.query),
        ]
        spellings = {spelling for chunk in (*whole, *chunks) for spelling in (chunk, unquote(chunk))}
        secrets = {one for one in spellings if len(one) >= _SHORTEST_SECRET}
        text = text.replace(self.address.get_secret_value(), str(self)).replace(self.url, str(self))
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, "…")
        return text


def create_endpoint(settings: EndpointSettings) -> Endpoint | None:
    """Return the endpoint of the settings; None: browsers are launched locally."""
    if settings.cdp_endpoint is not None:
        return Endpoint("cdp", settings.cdp_endpoint)
    if settings.playwright_endpoint is not None:
        return Endpoint("playwright", settings.playwright_endpoint)
    return None


def is_loopback(host: str) -> bool:
    """True if a host name or address is this machine's own, without resolving names."""
    host = host.lower().rstrip(".").strip("[]")
    if any(host == name or host.endswith(f".{name}") for name in _LOOPBACK_NAMES):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback or address.is_unspecified


def _list_query_values(query: str) -> list[str]:
    return [pair.partition("=")[2] for pair in query.split("&")]
