"""The URL policy of an external browser: its pages cannot open the endpoint that drives it, in any spelling.

Anything that reaches a remote debugging port or a Playwright server can drive the whole browser. Seen from the browser,
the endpoint is at a loopback address, whatever the settings call it.
"""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from agentcore.api import ServiceAddress, ToolError, UrlPolicy
from agentcore_chrome.endpoint import Endpoint, is_loopback

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_LOOK_UP_SECONDS = 5.0


class EndpointPolicy(UrlPolicy):
    """Another policy that additionally refuses the endpoint.

    Args:
        inner: The policy of the settings.
        endpoint: The endpoint that drives the browser.
    """

    def __init__(self, inner: UrlPolicy, endpoint: Endpoint) -> None:
        self._inner = inner
        self._endpoint = endpoint
        self._hosts = {_normalize_host(endpoint.host)}

    async def resolve_endpoint(self) -> None:
        """Resolve the endpoint's name, so that other names of its addresses are refused as well."""
        try:
            async with asyncio.timeout(_LOOK_UP_SECONDS):
                found = await asyncio.get_running_loop().getaddrinfo(
                    self._endpoint.host, self._endpoint.port, type=socket.SOCK_STREAM
                )
        except (OSError, UnicodeError, TimeoutError):
            return  # connecting to it fails as well
        self._hosts |= {_normalize_host(str(address[0])) for *_, address in found}

    def with_services(self, session_id: str) -> UrlPolicy:
        """Return this policy: services are for browsers that run here, and loopback is another machine's there."""
        return self

    def find_service(self, url: str) -> ServiceAddress | None:
        """Return None: see `with_services`."""
        return None

    def check(self, url: str) -> str:
        """Check an address as written, and refuse the endpoint."""
        checked = self._inner.check(url)
        parts = urlsplit(checked.removeprefix("blob:"))
        self._refuse_own_endpoint(url, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0))
        return checked

    def check_address(self, host: str, address: str, port: int) -> None:
        """Check an IP address of a host, and refuse the endpoint."""
        self._inner.check_address(host, address, port)
        self._refuse_own_endpoint(f"{address}:{port}", address, port)

    async def resolve(self, url: str) -> list[str]:
        """Return the allowed IP addresses of a URL's host, and refuse the endpoint."""
        checked = self.check(url)
        found = await self._inner.resolve(url)
        parts = urlsplit(checked)
        for address in found:
            if not ipaddress.ip_address(address.partition("%")[0]).is_global:  # public ones may be shared by many names
                self._refuse_own_endpoint(url, address, parts.port or _PORTS.get(parts.scheme, 0))
        return found

    def _refuse_own_endpoint(self, shown: str, host: str, port: int) -> None:
        if port != self._endpoint.port:
            return
        host = _normalize_host(host)
        if is_loopback(host) or host in self._hosts:
            why = "leads to where the browser is driven from, which no page may reach"
            message = f"{shown!r} is not opened: it {why}."
            raise ToolError("url_blocked", message, url=shown, reason="own_address")


def _normalize_host(host: str) -> str:
    """Return a host in one spelling: lower case, IPv4-mapped IPv6 addresses as IPv4."""
    host = host.lower().rstrip(".").strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(getattr(address, "ipv4_mapped", None) or address)
