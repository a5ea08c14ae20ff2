"""Results of ended calls, which a host stores until a server confirms them; bounded, since no server may come."""

from typing import Any

import structlog

from agentcore.api import EmbeddedResource, Text
from agentcore.api.result import Audio, ContentBlock, Image, ToolResult
from agentcore.encoding import to_json
from agentcore.late_dataclasses import dataclass

log = structlog.get_logger(__name__)

RESULTS_BYTES = 64 * 1024 * 1024
"""The size limit of all of them; beyond it, the oldest are dropped, and their calls are `interrupted` for the next
server."""

_CALL_BYTES = 4096
"""The size of a call besides its result."""


@dataclass(eq=False)
class EndedCall:
    """A call that has ended.

    Args:
        head: The beginning of its `tool.result`.
        encoded: The data of its result, as JSON text.
        error: Its encoded error instead of a result.
    """

    head: dict[str, Any]
    result: ToolResult | None = None
    encoded: bytes = b"null"
    error: dict[str, Any] | None = None

    @property
    def call_id(self) -> str:
        """Id of the call."""
        call_id: str = self.head["id"]
        return call_id

    @property
    def size_bytes(self) -> int:
        """Its approximate size."""
        blocks = () if self.result is None else self.result.blocks()
        error = 0 if self.error is None else len(to_json(self.error))
        # the data twice: as values they need at least as much as text
        return _CALL_BYTES + sum(map(_size_of, blocks)) + 2 * len(self.encoded) + error


class EndedCalls:
    """The ended calls of a host that survives its server and that no server has confirmed, the oldest first."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[EndedCall, int]] = {}
        self._bytes = 0

    def values(self) -> list[EndedCall]:
        """How they ended."""
        return [ended for ended, _ in self._calls.values()]

    def add(self, ended: EndedCall) -> None:
        """Keep how a call ended."""
        self.discard(ended.call_id)
        size = ended.size_bytes
        self._calls[ended.call_id] = ended, size
        self._bytes += size
        while self._bytes > RESULTS_BYTES:
            oldest = next(iter(self._calls))
            self.discard(oldest)
            log.warning("result_dropped", call_id=oldest, limit_bytes=RESULTS_BYTES)

    def get(self, call_id: str) -> EndedCall | None:
        """How a call ended; None: that is not known here."""
        return self._calls[call_id][0] if call_id in self._calls else None

    def discard(self, call_id: str) -> None:
        """Remove a call whose end a server knows or does not need."""
        _, size = self._calls.pop(call_id, (None, 0))
        self._bytes -= size


def _size_of(block: ContentBlock) -> int:
    if isinstance(block, Text):
        return len(block.text)
    if isinstance(block, Image | Audio):
        return len(block.data)
    return len(block.content) if isinstance(block, EmbeddedResource) else 0
