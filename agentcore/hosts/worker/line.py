"""A host's way to its server: one link for a host that ends with it, one after another for a host that outlives it."""

import asyncio
from typing import Any

from agentcore.errors import ToolError
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message, Peer


class Line:
    """What modules and calls of a host speak through.

    Args:
        outlives: Whether the host goes on without a server, and waits for the next one.
    """

    def __init__(self, *, outlives: bool) -> None:
        self.outlives = outlives
        self._peer: Peer | None = None
        self._attached = asyncio.Event()

    @property
    def peer(self) -> Peer:
        """The link that there is.

        Raises:
            LinkError: There is none.
        """
        if self._peer is None:
            raise LinkError("there is no server")
        return self._peer

    @property
    def is_up(self) -> bool:
        """Whether there is a server."""
        return self._peer is not None and self._peer.ended is None

    def attach(self, peer: Peer) -> None:
        """Speak through this link from now on."""
        self._peer = peer
        self._attached.set()

    def detach(self, peer: Peer) -> None:
        """A link has ended."""
        if self._peer is peer:
            self._peer = None
            self._attached.clear()

    def send_message(self, message: Message) -> None:
        """Send a message that wants no reply; without a server nobody is told."""
        if self._peer is not None:
            self._peer.send_message(message)

    async def request(self, message: Message, data: bytes | None = None) -> Any:
        """Ask the server. Where it ends meanwhile, the next one is asked what can be asked twice.

        Args:
            data: Bytes that go along, as `blob`.
        Raises:
            ToolError: What the server answers; `interrupted`: it ended, and may have done what it was asked for.
            LinkError: There is no server, and will be none.
        """
        while True:
            if self.outlives:
                await self._attached.wait()
            peer = self.peer
            try:
                blob = {} if data is None else {"blob": await peer.send_blob(data)}
                return await peer.request(message | blob)
            except LinkError:
                if not self.outlives:
                    raise
                if not message["type"].startswith(("artifact.", "storage.")):
                    raise ToolError("interrupted", "the server ended while it was asked; it may have done it") from None

    def pop_blob(self, number: Any) -> bytes:
        """Bytes that the server sent."""
        return self.peer.pop_blob(number)
