"""`Guard`: checks the address of each connection when it is made, which protects from DNS rebinding."""

import socket
from typing import Any

from aiohttp import TCPConnector

from agentcore.api import ToolError, UrlPolicy


class _RefusedAddressError(OSError):
    """A refusal as OSError, which is the only kind of error that Happy Eyeballs handles."""


class Guard:
    """Creates the sockets of one exchange, and stores the refusal that ended it.

    A custom resolver would not suffice, because it is not called for numeric addresses.

    Attributes:
        policy: Decides on the address of the next connection.
        refusal: Why an address was refused; None while none was.
    """

    def __init__(self, policy: UrlPolicy) -> None:
        self.policy = policy
        self.refusal: ToolError | None = None

    def create_connector(self) -> TCPConnector:
        """Create a connector that does not connect to addresses that the policy refuses; needs a running event loop."""
        return TCPConnector(socket_factory=self._make_socket, force_close=True, use_dns_cache=False)

    def _make_socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, endpoint = info
        try:
            self.policy.check_address("", str(endpoint[0]), int(endpoint[1]))
        except ToolError as exc:
            self.refusal = exc
            raise _RefusedAddressError(exc.message) from exc
        return socket.socket(family, kind, protocol)
