"""`HostPattern`: an entry in a list of allowed or blocked hosts."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Self

from agentcore.late_dataclasses import dataclass
from agentcore.net.public_address import Address, unwrap_layers
from agentcore.net.whatwg_url import WebUrl, read_url

_FOREIGN = re.compile(r"[\\@?#%*\s]")
"""Characters that a parser would treat as the end of the host, or as part of something before it."""


@dataclass(frozen=True, slots=True)
class HostPattern:
    """The hosts that one entry of a list matches.

    `example.com` matches that name and its subdomains, `*.example.com` only the subdomains, `192.0.2.7`,
    `[2001:db8::1]` or `192.0.2.0/24` addresses; each may end with a port.
    """

    name: str
    only_below: bool
    network: IPv4Network | IPv6Network | None
    port: int | None

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse an entry.

        Raises:
            ValueError: It is not a valid pattern; the message contains it.
        """
        only_below = text.startswith("*.")
        bare = text[2:] if only_below else text
        try:
            if "/" in bare or (bare.count(":") > 1 and not bare.startswith("[")):
                return cls("", only_below=False, network=ip_network(bare, strict=False), port=None)
            url = _read_host(bare)
        except ValueError as exc:
            raise ValueError(
                f"{text!r} names no host; write example.com, *.example.com, 192.0.2.7 or 192.0.2.0/24, "
                "with :port behind it if you like"
            ) from exc
        network = None if url.address is None else ip_network(url.address)
        has_port = bare.rpartition("]")[2].rpartition(":")[1] == ":"
        return cls("" if network else url.host, only_below, network, url.port if has_port else None)

    def covers(self, url: WebUrl) -> bool:
        """Return True if a web address is at such a host."""
        if self.port is not None and url.port != self.port:
            return False
        if self.network is not None:
            return url.address is not None and self._contains(url.address)
        return url.host.endswith(f".{self.name}") or (url.host == self.name and not self.only_below)

    def covers_address(self, address: Address, port: int) -> bool:
        """Return True if the pattern contains an address that a name resolved to."""
        return self.network is not None and self.port in (None, port) and self._contains(address)

    def _contains(self, address: Address) -> bool:
        return self.network is not None and any(layer in self.network for layer in unwrap_layers(address))


def _read_host(text: str) -> WebUrl:
    if _FOREIGN.search(text):
        raise ValueError(f"{text!r} is more than a host")
    return read_url(f"http://{text}/")
