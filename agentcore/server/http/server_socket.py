"""The socket that the server listens on: loopback, unless the user explicitly allows another address."""

import errno
import ipaddress
import os
import socket
from collections.abc import Sequence

from agentcore.errors import AgentcoreError

_BACKLOG = 512
_TRIED_PORTS = 100


class ListenError(AgentcoreError):
    """The server cannot listen on the requested address; the message says what to change."""


class PortTakenError(ListenError):
    """Another program listens on the requested port.

    Args:
        host: The requested address.
        port: The requested port.
    """

    def __init__(self, message: str, host: str, port: int) -> None:
        super().__init__(message)
        self.host = host
        self.port = port

    def find_free_port(self) -> int | None:
        """Return the next port at which this host could listen now; None if none of the next hundred is free."""
        for port in range(self.port + 1, min(self.port + 1 + _TRIED_PORTS, 65_536)):
            family, place = _resolve_address(self.host, port)
            with socket.socket(family, socket.SOCK_STREAM) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    tried.bind(place)
                except OSError:
                    continue
                return port
        return None


def open_listener(
    host: str,
    port: int,
    *,
    allow_remote: bool = False,
    declared_hosts: Sequence[str] = (),
    option: str = "--port",
) -> socket.socket:
    """Open a listening socket.

    Args:
        host: Name or address to bind. Anything but loopback, including every spelling of the wildcard address, needs
            `allow_remote` and the names under which a TLS proxy publishes it.
        port: Port; 0: any that is free.
        allow_remote: True if other machines may connect.
        declared_hosts: `server.hosts` of app.json.
        option: The command line option that sets the port, for messages.
    Raises:
        ListenError: The address must not or cannot be bound.
    """
    family, place = _resolve_address(host, port)
    if not ipaddress.ip_address(str(place[0]).partition("%")[0]).is_loopback:
        _check_remote(host, allow_remote=allow_remote, declared_hosts=declared_hosts)
    listener = socket.socket(family, socket.SOCK_STREAM | getattr(socket, "SOCK_CLOEXEC", 0))
    try:
        # a restart must not fail because old connections are in TIME_WAIT
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # the default differs between systems
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(place)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as exc:
        listener.close()
        raise _cannot_bind(host, port, option, exc) from exc
    return listener


def own_name(listener: socket.socket) -> str:
    """Return the server's name in its own URLs: the loopback address that is bound, else `127.0.0.1`."""
    address = ipaddress.ip_address(listener.getsockname()[0].partition("%")[0])
    if not address.is_loopback:
        return "127.0.0.1"
    return f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 - the version of the protocol


def _resolve_address(host: str, port: int) -> tuple[socket.AddressFamily, tuple[object, ...]]:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        found = socket.getaddrinfo(bare or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as exc:
        raise ListenError(f"cannot listen on {host!r}: it is no address of this machine ({exc})") from exc
    # `localhost` resolves to both families: the server calls itself 127.0.0.1
    family, _, _, _, place = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, place


def _check_remote(host: str, *, allow_remote: bool, declared_hosts: Sequence[str]) -> None:
    if not allow_remote:
        raise ListenError(
            f"{host!r} can be reached from other machines; tools run commands on this one, so that needs "
            '--allow-remote, and a proxy with TLS in front, named in app.json under "server": {"hosts": […]}'
        )
    if not declared_hosts:
        raise ListenError(
            f"{host!r} can be reached from other machines, and the server speaks no TLS itself: put a proxy with TLS "
            'in front and name the address it serves in app.json under "server": {"hosts": ["agent.example.com"]}'
        )


def _cannot_bind(host: str, port: int, option: str, exc: OSError) -> ListenError:
    place = f"{host}:{port}"
    if exc.errno == errno.EADDRINUSE:
        message = f"{place} is taken by another program; end it, or choose another port with {option} (0: any)"
        return PortTakenError(message, host, port)
    if exc.errno in (errno.EACCES, errno.EPERM):
        return ListenError(f"{place} needs more rights; choose a port from 1024 on with {option}")
    if exc.errno == errno.EADDRNOTAVAIL:
        return ListenError(f"{host!r} is no address of this machine; choose another with --host")
    return ListenError(f"cannot listen on {place}: {os.strerror(exc.errno or 0)}")
