"""Classification of addresses as public, loopback or metadata, including addresses embedded in others.

Addresses that are not known to be public count as private. The networks are listed here instead of using `is_global`,
whose result changed between patch versions of Python.
Source: IANA special-purpose address registries (RFC 6890 and its updates).
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network, and the unspecified address, which reaches loopback
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers, and used by overlay networks
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, including Teredo
            "2001:db8::/32",
            "3fff::/20",
        ),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_LOW_32 = 0xFFFFFFFF

_METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",
            "169.254.170.2",
            "168.63.129.16",  # a public address, but used by the platform itself
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
        ),
    )
)
"""Addresses at which clouds provide the machine's credentials to any program on it."""


def read_address(text: str) -> Address:
    """Parse an address, ignoring its zone (`fe80::1%eth0`).

    Raises:
        ValueError: It is not an address.
    """
    return ip_address(text.partition("%")[0])


def is_public(address: Address) -> bool:
    """Return True if an address and every address embedded in it are public."""
    *wrapped, outer = unwrap_layers(address)
    if any(_is_in(layer, _NOT_PUBLIC_4) for layer in wrapped if isinstance(layer, IPv4Address)):
        return False
    if isinstance(outer, IPv4Address):
        return not _is_in(outer, _NOT_PUBLIC_4)
    if outer.ipv4_mapped is not None or outer in _NAT64:
        return True
    return outer in _PUBLIC_6 and not _is_in(outer, _NOT_PUBLIC_6)


def is_loopback(address: Address) -> bool:
    """Return True if an address, or one embedded in it, reaches this machine, as the unspecified one does."""
    return any(layer.is_loopback or layer.is_unspecified for layer in unwrap_layers(address))


def is_metadata(address: Address) -> bool:
    """Return True if an address, or one embedded in it, is a cloud's service for the machine's own credentials."""
    return any(layer in _METADATA for layer in unwrap_layers(address))


def unwrap_layers(address: Address) -> Iterator[Address]:
    """Yield the IPv4 addresses embedded in an IPv6 address, then the address itself.

    Embeddings are mapped, compatible, 6to4, Teredo, NAT64 and ISATAP; a packet may be delivered to any of these.
    """
    if isinstance(address, IPv6Address):
        number = int(address)
        if address.ipv4_mapped is not None:
            yield address.ipv4_mapped
        if address.sixtofour is not None:
            yield address.sixtofour
        if address.teredo is not None:
            yield from address.teredo
        holds_last = address in _NAT64 or (address in _COMPATIBLE and number > 1)
        if holds_last or number >> 32 & _LOW_32 in _ISATAP:
            yield IPv4Address(number & _LOW_32)
    yield address


def _is_in(address: Address, networks: tuple[IPv4Network, ...] | tuple[IPv6Network, ...]) -> bool:
    return any(address in network for network in networks)
