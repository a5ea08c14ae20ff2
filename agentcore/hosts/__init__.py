"""Hosts: modules outside the server process, in other processes and on other machines, and the links to them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from agentcore.config.loading import AppConfig
    from agentcore.hosts.hosts import Hosts
    from agentcore.hosts.wire.frames import PROTOCOL
    from agentcore.hosts.wire.web_socket import (
        CLOSE_SECONDS,
        HEARTBEAT_SECONDS,
        MESSAGE_BYTES,
        SOCKET_PATH,
        UNPAIRED_MESSAGE_BYTES,
    )

__all__ = [
    "CLOSE_SECONDS",
    "HEARTBEAT_SECONDS",
    "MESSAGE_BYTES",
    "PROTOCOL",
    "SOCKET_PATH",
    "UNPAIRED_MESSAGE_BYTES",
    "Hosts",
    "make_hosts",
    "stop_all_surviving_hosts",
]

_HOMES = {
    "CLOSE_SECONDS": "agentcore.hosts.wire.web_socket",
    "HEARTBEAT_SECONDS": "agentcore.hosts.wire.web_socket",
    "Hosts": "agentcore.hosts.hosts",
    "MESSAGE_BYTES": "agentcore.hosts.wire.web_socket",
    "PROTOCOL": "agentcore.hosts.wire.frames",
    "SOCKET_PATH": "agentcore.hosts.wire.web_socket",
    "UNPAIRED_MESSAGE_BYTES": "agentcore.hosts.wire.web_socket",
}


async def stop_all_surviving_hosts(state: "Path") -> list[str]:
    """Stop the hosts that survive the server of a state folder; return the names of those that ran."""
    from agentcore.hosts.hosts import stop_all_surviving_hosts as end_all  # noqa: PLC0415 - as below

    return await end_all(state)


def make_hosts(config: "AppConfig") -> "Hosts":
    """Create the hosts that app.json names, and those that dial in, for `Core.open`."""
    from agentcore.hosts.hosts import Hosts  # noqa: PLC0415 - commands that open no host need nothing of it

    return Hosts(config)


def __getattr__(name: str) -> object:
    # at first use: a worker needs little of this package
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
