"""Finds the TCP ports that the processes of a command listen on, by their sockets in /proc; without it, none."""

import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

from agentcore.late_dataclasses import dataclass
from agentcore.supervision.descendants import list_descendants

_LISTEN = b"0A"
_INODE = 9
_PROCESSES = 500
"""How many processes of one command are looked at."""

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP port that a process listens on.

    Args:
        port: The port.
        host: The host name or address by which this machine reaches it, as in a URL: `127.0.0.1`, `[::1]`.
        pid: The process, as seen outside of a sandbox.
        is_reachable: False if it is in a network of its own, which this machine does not reach.
    """

    port: int
    host: str
    pid: int
    is_reachable: bool


def read_listening_sockets() -> frozenset[int]:
    """Return the inodes of all listening TCP sockets of this machine; equal sets mean that nothing changed."""
    return frozenset(_read_table("self"))


def find_listeners(root: int) -> list[Listener]:
    """Find the ports that the descendants of a process listen on and that loopback reaches, one for each port."""
    own_network = _read_link("/proc/self/ns/net")
    tables: dict[str, dict[int, tuple[Address, int]]] = {}
    found: dict[tuple[int, bool], Listener] = {}
    for pid in list_descendants(root)[:_PROCESSES]:
        network = _read_link(f"/proc/{pid}/ns/net")
        if not network:
            continue
        if network not in tables:
            tables[network] = _read_table(str(pid))
        for inode in _socket_inodes(pid) if tables[network] else ():
            address, port = tables[network].get(inode, (None, 0))
            host = None if address is None else _loopback_host(address)
            if host is None:
                continue
            key = (port, network == own_network)
            if key not in found or host == "127.0.0.1":
                found[key] = Listener(port, host, pid, key[1])
    return sorted(found.values(), key=lambda listener: (not listener.is_reachable, listener.port))


def _read_table(pid: str) -> dict[int, tuple[Address, int]]:
    """Return address and port of the listening sockets in the network of a process, by inode."""
    found: dict[int, tuple[Address, int]] = {}
    for name in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/{pid}/net/{name}", "rb") as table:  # noqa: PTH123
            next(table, None)
            for line in table:
                fields = line.split()
                if fields[3] == _LISTEN:
                    found[int(fields[_INODE])] = _read_address(fields[1])
    return found


def _read_address(text: bytes) -> tuple[Address, int]:
    """Read `0100007F:1F90`: words of four bytes in the machine's order, and the port."""
    host, _, port = text.partition(b":")
    words = [bytes.fromhex(host[at : at + 8].decode())[::-1] for at in range(0, len(host), 8)]
    if socket.htonl(1) == 1:  # a big-endian machine
        words = [word[::-1] for word in words]
    return ip_address(b"".join(words)), int(port, 16)


def _loopback_host(address: Address) -> str | None:
    """Return the host of a URL for a listening address; None if loopback does not reach it."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if isinstance(address, IPv4Address):
        if address.is_unspecified:
            return "127.0.0.1"
        return str(address) if address.is_loopback else None
    if address.is_unspecified:
        return "localhost"
    return f"[{address}]" if address.is_loopback else None


def _socket_inodes(pid: int) -> Iterator[int]:
    for descriptor in _list_descriptors(pid):
        target = _read_link(f"/proc/{pid}/fd/{descriptor}")
        if target.startswith("socket:["):
            yield int(target[8:-1])


def _list_descriptors(pid: int) -> Iterable[str]:
    with suppress(OSError):  # it has ended, or is another user's
        return os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
    return ()


def _read_link(path: str) -> str:
    with suppress(OSError):
        return os.readlink(path)  # noqa: PTH115
    return ""
