"""Ports of this machine at which a server can listen a second time, after a restart."""

import random
import socket

# Below the ports that Linux gives to outgoing connections: nothing takes one between a stop and a start.
_PORTS = range(15_000, 32_000)


def find_restart_ports() -> tuple[int, int]:
    """Two free ports that stay free while a test's server is down."""
    free = (port for port in random.sample(_PORTS, 64) if is_free(port))
    return next(free), next(free)


def is_free(port: int) -> bool:
    """True if a server can listen at a port of this machine."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
