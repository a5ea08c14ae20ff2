"""The last check before a connection: the address that is really dialled, whatever a name said a moment ago."""

import socket
from typing import Any

from aiohttp import TCPConnector

from agentcore.api import ToolError, UrlPolicy


class _RefusedAddressError(OSError):
    """How a refusal passes through the race of several addresses, which knows only failures of the system."""


class Guard:
    """Makes the sockets of one exchange, and keeps the refusal that ended it.

    A resolver of our own would not do: addresses that are written as numbers never reach one.

    Attributes:
        refusal: Why an address was not dialled; None while all were.
    """

    def __init__(self, policy: UrlPolicy) -> None:
        self._policy = policy
        self.refusal: ToolError | None = None

    def create_connector(self) -> TCPConnector:
        """A connector that dials nothing that the policy refuses; used inside of the running event loop."""
        return TCPConnector(socket_factory=self._make_socket, force_close=True, use_dns_cache=False)

    def _make_socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, endpoint = info
        try:
            self._policy.check_address("", str(endpoint[0]), int(endpoint[1]))
        except ToolError as exc:
            self.refusal = exc
            raise _RefusedAddressError(exc.message) from exc
        return socket.socket(family, kind, protocol)
