"""Which addresses lie on the public internet, however they are wrapped.

What is not known to be public counts as private. The networks are named here and not taken from `is_global`, whose
answer changed between patch versions of Python.
Source: IANA special-purpose address registries (RFC 6890 and those that updated it).
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
            "100.64.0.0/10",  # shared by carriers, and by overlay networks
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
            "2001::/23",  # protocol assignments, Teredo among them
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
            "168.63.129.16",  # public by its number, and yet the platform's own
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
        ),
    )
)
"""Where clouds hand out the credentials of the machine to whoever asks from it."""


def read_address(text: str) -> Address:
    """An address without its zone (`fe80::1%eth0`).

    Raises:
        ValueError: It is none.
    """
    return ip_address(text.partition("%")[0])


def is_public(address: Address) -> bool:
    """Whether an address, and every one wrapped in it, is one of the public internet."""
    *wrapped, outer = unwrap_layers(address)
    if any(_is_in(layer, _NOT_PUBLIC_4) for layer in wrapped if isinstance(layer, IPv4Address)):
        return False
    if isinstance(outer, IPv4Address):
        return not _is_in(outer, _NOT_PUBLIC_4)
    if outer.ipv4_mapped is not None or outer in _NAT64:
        return True
    return outer in _PUBLIC_6 and not _is_in(outer, _NOT_PUBLIC_6)


def is_loopback(address: Address) -> bool:
    """Whether an address, or one wrapped in it, reaches the machine itself; the unspecified one does."""
    return any(layer.is_loopback or layer.is_unspecified for layer in unwrap_layers(address))


def is_metadata(address: Address) -> bool:
    """Whether an address, or one wrapped in it, is a cloud's service for the machine's own credentials."""
    return any(layer in _METADATA for layer in unwrap_layers(address))


def unwrap_layers(address: Address) -> Iterator[Address]:
    """The IPv4 addresses that an IPv6 address carries (mapped, compatible, 6to4, Teredo, NAT64, ISATAP), then itself.

    Each is where a packet for the address may end up.
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
