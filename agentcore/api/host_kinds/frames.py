"""A connection between a server and a host: the frames that it carries, and their limits."""

from collections.abc import Callable
from typing import Protocol

from agentcore.errors import AgentcoreError

PROTOCOL = "agentcore.host.1"
"""The version of the protocol: a WebSocket's sub-protocol, and `protocol` of `hello`."""

TEXT_BYTES = 16 * 1024 * 1024
"""The largest message. Results, arguments and definitions have smaller limits of their own."""

PIECE_BYTES = 64 * 1024
"""The size of one chunk of a blob: urgent messages wait for no more than that."""

PIECE_HEADER_BYTES = 9
"""The size of the header of a chunk, which belongs to its frame."""


class LinkError(AgentcoreError):
    """The other side of a link violated the protocol, or is gone; the message says how."""


class HostKindError(AgentcoreError):
    """Invalid options or an invalid configuration of a kind of hosts; the message, for the user, says why."""


class Transport(Protocol):
    """The transport of a peer's frames."""

    def send_text(self, data: bytes) -> None:
        """Send a message; never waits."""
        ...

    async def send_binary(self, data: bytes) -> None:
        """Send a chunk of a blob, once the stream accepts it.

        Raises:
            ConnectionError: The other side is gone.
        """
        ...

    def close(self) -> None:
        """End the connection."""
        ...


class FramePeer(Protocol):
    """One end of a link, which reads the frames that a connection delivers."""

    def receive_text(self, data: bytes) -> None:
        """Handle a message."""
        ...

    def receive_binary(self, data: bytes) -> None:
        """Handle a chunk of a blob, with its header."""
        ...

    def close(self, reason: str = "") -> None:
        """End the link; the reason, if the other side violated the protocol, is logged."""
        ...

    def abort(self, reason: str) -> None:
        """Handle that the other side has gone."""
        ...


MakePeer = Callable[[Transport], FramePeer]
"""Makes the peer at this end of a connection."""


class Carrier(Protocol):
    """A connection that was opened."""

    async def carry_frames(self) -> None:
        """Carry frames until it ends; the peer ends with it."""
        ...
