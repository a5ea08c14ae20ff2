"""Web addresses, parsed as browsers parse them.

The parser is Ada, which passes the web platform tests of the WHATWG URL Standard. Another parser, such as Python's (RFC
3986), could read a different host from an address than the client that then opens it.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address

from ada_url import URL

from agentcore.late_dataclasses import dataclass

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}


@dataclass(frozen=True, slots=True)
class WebUrl:
    """The parts of a web address.

    Args:
        href: The normalised form: the one to open, because every parser reads it the same way.
        scheme: Lower case, without the colon.
        host: Lower case, IDN as Punycode, without a final dot and without brackets; empty if the scheme has none.
        address: The host as an IP address, if it is one in any notation.
        port: The port that a client connects to; None if the scheme has none.
        has_credentials: True if it contains a user name or a password.
        path: The part after the host, or after the colon for schemes without a host.
    """

    href: str
    scheme: str
    host: str
    address: IPv4Address | IPv6Address | None
    port: int | None
    has_credentials: bool
    path: str


def read_url(url: str) -> WebUrl:
    """Parse an address according to the WHATWG URL Standard.

    Raises:
        ValueError: It is not an address, or its host cannot exist.
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
