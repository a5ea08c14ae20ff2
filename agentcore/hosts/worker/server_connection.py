"""A host's connection to its server: one link for a host that ends with it, a series of links for one that survives
it."""

import asyncio
from typing import Any

from agentcore.errors import ToolError
from agentcore.hosts.wire.frames import LinkError
from agentcore.hosts.wire.peer import Message, Peer


class Line:
    """The connection that modules and calls of a host use.

    Args:
        outlives: True if the host keeps running without a server, and waits for the next one.
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
        """True if there is a server."""
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
        """Send a message without a reply; without a server it is dropped."""
        if self._peer is not None:
            self._peer.send_message(message)

    async def request(self, message: Message, data: bytes | None = None, *, is_repeatable: bool = False) -> Any:
        """Send the server a request. If the server ends meanwhile, requests that can be repeated are sent to the next
        one.

        Args:
            data: Bytes that are sent with it, as `blob`.
            is_repeatable: True if it can be repeated.
        Raises:
            ToolError: The error reply of the server; `interrupted`: it ended, and may have carried out the request.
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
                if not is_repeatable:
                    raise ToolError("interrupted", "the server ended while it was asked; it may have done it") from None

    def pop_blob(self, number: Any) -> bytes:
        """Bytes that the server sent."""
        return self.peer.pop_blob(number)
