"""What a call writes while it runs, as a person is shown it: its end, and the events that tell of it."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentcore.bounds import OUTPUT_EVENT_CHARS, OUTPUT_INTERVAL_SECONDS, OUTPUT_KEPT_CHARS


class ShownOutput:
    """Keeps the end of what a call has written, and tells of what is new at most every so often.

    Args:
        publish: Tells everybody `{text, end}`.
        loop: Whose clock it goes by.
    """

    def __init__(self, publish: Callable[[dict[str, Any]], None], loop: asyncio.AbstractEventLoop) -> None:
        self._publish, self._loop = publish, loop
        self._text, self._end, self._told = "", 0, 0
        self._next_at = 0.0
        self._is_scheduled = False

    def add(self, text: str, length: int) -> None:
        """Take the end of what came, and how many characters that were."""
        self._text = (self._text + text)[-OUTPUT_KEPT_CHARS:]
        self._end += length
        if self._loop.time() >= self._next_at:
            self.tell()
        elif not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_at(self._next_at, self.tell)

    def tell(self) -> None:
        """Tell of what nobody was told of yet."""
        self._is_scheduled = False
        new = min(self._end - self._told, OUTPUT_EVENT_CHARS)  # within what is kept
        if new == 0:
            return
        self._told = self._end
        self._next_at = self._loop.time() + OUTPUT_INTERVAL_SECONDS
        self._publish({"text": self._text[-new:], "end": self._end})

    def to_json(self) -> dict[str, Any]:
        """`{text, end}`: its last characters, and how many came in all."""
        return {"text": self._text, "end": self._end}
