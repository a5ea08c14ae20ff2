"""Addresses of the web, read as browsers read them.

The parser is Ada's, which passes the platform tests of the WHATWG URL Standard: a second parser of our own, or Python's
(RFC 3986), would sooner or later read another host out of an address than the client that then opens it.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from ada_url import URL

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}


@dataclass(frozen=True, slots=True)
class WebUrl:
    """One address in its parts.

    Args:
        href: The normalised spelling: the one to open, for it means the same to every parser.
        scheme: Lower case, without the colon.
        host: Lower case, IDN as Punycode, without a final dot and without brackets; empty where the scheme has none.
        address: The host as an address, if it is one in any spelling.
        port: The port that a client connects to; None where the scheme has none.
        has_credentials: Whether it carries a name or a password.
        path: What follows the host, and for schemes without a host all that follows the colon.
    """

    href: str
    scheme: str
    host: str
    address: IPv4Address | IPv6Address | None
    port: int | None
    has_credentials: bool
    path: str


def read_url(url: str) -> WebUrl:
    """Read an address by the WHATWG URL Standard.

    Raises:
        ValueError: It is none, or its host cannot exist.
    """
    parsed = URL(url)
    scheme = parsed.protocol.removesuffix(":")
    host = parsed.hostname.rstrip(".").strip("[]").lower()
    if parsed.hostname and not all(host.split(".")):
        raise ValueError(f"{parsed.hostname!r} is no host")
    return WebUrl(
        href=parsed.href,
        scheme=scheme,
        host=host,
        address=_address_of(host),
        port=int(parsed.port) if parsed.port else _DEFAULT_PORTS.get(scheme),
        has_credentials=bool(parsed.username or parsed.password),
        path=parsed.pathname,
    )


def _address_of(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
