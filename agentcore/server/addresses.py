"""The names that the server answers to, and its own origins."""

import ipaddress
from dataclasses import field

from agentcore.late_dataclasses import dataclass

LOOPBACK = "127.0.0.1"
"""The address at which documents are served, as the server writes it."""


@dataclass(frozen=True)
class Addresses:
    """The server's own addresses.

    Args:
        port: The port that is bound.
        hosts: Further values of the Host header, `name` or `name:port`, for example behind a proxy.
        name: The server's name in its own URLs: the loopback address that is bound.

    Attributes:
        allowed: All values of the Host header that are accepted, in lower case.
        origins: The origins of their pages.
        plain: The allowed hosts that are served without TLS.
        redirected: The second name of this machine, from which documents are redirected.
    """

    port: int
    hosts: tuple[str, ...] = ()
    name: str = LOOPBACK
    allowed: frozenset[str] = field(init=False)
    origins: frozenset[str] = field(init=False)
    plain: frozenset[str] = field(init=False)
    redirected: str = field(init=False)

    def __post_init__(self) -> None:
        declared = [host.lower() for host in self.hosts]
        own = [f"{self.name}:{self.port}", f"localhost:{self.port}"]
        object.__setattr__(self, "allowed", frozenset((*own, *declared)))
        object.__setattr__(self, "origins", frozenset(map(origin_of, (*own, *declared))))
        plain = [host for host in (*own, *declared) if origin_of(host).startswith("http:")]
        object.__setattr__(self, "plain", frozenset(plain))
        object.__setattr__(self, "redirected", own[1])

    @property
    def base_url(self) -> str:
        """Base URL of the origin, without a final slash."""
        return f"http://{self.name}:{self.port}"


def view_addresses(port: int, hosts: tuple[str, ...]) -> Addresses:
    """Return the addresses of tool views, under another name of this machine than the page's.

    Browsers treat these as two sites: views get their own process and never receive a cookie of the page.
    """
    return Addresses(port, hosts, "localhost")


def counterpart_url(own: Addresses, host: str, other: Addresses) -> str:
    """Return the URL of the page or the approval view for a browser that reached the other one at `host`.

    Declared names correspond by position; if the other one has fewer, its last name is used for the rest.
    """
    declared = [name.lower() for name in own.hosts]
    if host.lower() not in declared or not other.hosts:
        return other.base_url
    place = min(declared.index(host.lower()), len(other.hosts) - 1)
    return origin_of(other.hosts[place].lower())


def origin_of(host: str) -> str:
    """Return the origin of pages at this host: http for loopback, https for anything else, which is behind TLS."""
    return f"http://{host}" if is_loopback(_name_of(host)) else f"https://{host}"


def is_loopback(name: str) -> bool:
    """True if a name or an address, without a port, refers to this machine only."""
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return bare.lower().rstrip(".") == "localhost"


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if ":" in host else host
