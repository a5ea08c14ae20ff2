"""The interface of a connection to a foreign machine, for all transports."""

from collections.abc import Callable
from typing import Protocol

from agentcore.hosts.wire.peer import Peer, Transport


class Carrier(Protocol):
    """A connection that was opened."""

    async def carry_frames(self) -> None:
        """Carry frames until it ends; the peer ends with it."""
        ...


Carrying = Callable[[Callable[[Transport], Peer]], Carrier]
"""Makes what carries the frames of a peer, and with it the peer."""
