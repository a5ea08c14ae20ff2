"""Which names the server answers to, and which origins are its own."""

import ipaddress
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"
"""What documents are served at; the server's own spelling of itself."""


@dataclass(frozen=True)
class Addresses:
    """The server's own addresses.

    Args:
        port: The port that is bound.
        hosts: Further values of the Host header, `name` or `name:port`, as behind a proxy.
        name: The server's own name in its addresses: the loopback address that is bound.

    Attributes:
        allowed: All values of the Host header that are taken, in lower case.
        origins: The origins of their pages.
        plain: Those of the hosts that are spoken to without TLS.
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
        """Where the page is, without a final slash."""
        return f"http://{self.name}:{self.port}"


def view_addresses(port: int, hosts: tuple[str, ...]) -> Addresses:
    """The addresses of tools' views, by another name of this machine than the page's.

    To a browser these are two sites: views get a process of their own, and no cookie of the page is ever sent there.
    """
    return Addresses(port, hosts, "localhost")


def counterpart_url(own: Addresses, host: str, other: Addresses) -> str:
    """Where the other one of page and approval view is, for a browser that reached the one at `host`.

    Declared names belong together in their order; where there are fewer of the other, its last one stands for the rest.
    """
    declared = [name.lower() for name in own.hosts]
    if host.lower() not in declared or not other.hosts:
        return other.base_url
    place = min(declared.index(host.lower()), len(other.hosts) - 1)
    return origin_of(other.hosts[place].lower())


def origin_of(host: str) -> str:
    """The origin of pages that are asked at this host: loopback is plain, anything else stands behind TLS."""
    return f"http://{host}" if is_loopback(_name_of(host)) else f"https://{host}"


def is_loopback(name: str) -> bool:
    """Whether a name or an address, without a port, means this machine only."""
    bare = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return bare.lower().rstrip(".") == "localhost"


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if ":" in host else host
