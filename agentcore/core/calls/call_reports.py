"""Reports of a call while it runs, read strictly: progress, messages, output."""

import asyncio
import math
from collections.abc import Callable
from typing import Any, get_args

from agentcore.api import LogLevel
from agentcore.core.module_code.module_error import type_name
from agentcore.core.module_code.plain_values import plain_text
from agentcore.limits import (
    LOG_CHARS,
    OUTPUT_EVENT_CHARS,
    OUTPUT_INTERVAL_SECONDS,
    OUTPUT_KEPT_CHARS,
    PROGRESS_CHARS,
)

_LEVELS = frozenset(get_args(LogLevel))


def read_log(message: Any, level: Any) -> str:
    """A message as it is passed on.

    Raises:
        TypeError: It is no text.
        ValueError: There is no such level.
    """
    if not isinstance(message, str):
        raise TypeError(f"log: message must be text, not {type_name(message)}")
    if type(level) is not str or level not in _LEVELS:
        raise ValueError(f"log: level must be one of {', '.join(get_args(LogLevel))}")
    return plain_text(message[:LOG_CHARS])


def read_fraction(fraction: Any) -> float | None:
    """How much of a call is done: a number from 0 to 1, or None.

    Raises:
        TypeError: It is neither.
    """
    if fraction is None:
        return None
    if not isinstance(fraction, int | float):
        raise TypeError(f"progress: fraction must be a number from 0 to 1 or None, not {type_name(fraction)}")
    number = float(fraction)
    return None if math.isnan(number) else min(max(number, 0.0), 1.0)


def read_message(message: Any) -> str:
    """Read a progress message, bounded.

    Raises:
        TypeError: It is not text.
    """
    if not isinstance(message, str):
        raise TypeError(f"progress: message must be text, not {type_name(message)}")
    return plain_text(message[:PROGRESS_CHARS])


def read_output(text: Any) -> str:
    """The end of what a call has written.

    Raises:
        TypeError: It is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"show_output: what was written must be text, not {type_name(text)}")
    return plain_text(text[-OUTPUT_KEPT_CHARS:])


class ShownOutput:
    """Stores the end of a call's output, and publishes new output at limited intervals.

    Args:
        publish: Publishes `{text, end}`.
        loop: The loop whose clock it uses.
    """

    def __init__(self, publish: Callable[[dict[str, Any]], None], loop: asyncio.AbstractEventLoop) -> None:
        self._publish = publish
        self._loop = loop
        self._text = ""
        self._end = 0
        self._told = 0
        self._next_at = 0.0
        self._is_scheduled = False

    def add(self, text: str, length: int) -> None:
        """Take the end of what came, and how many characters that were."""
        self._text = (self._text + text)[-OUTPUT_KEPT_CHARS:]
        self._end += length
        if self._loop.time() >= self._next_at:
            self.publish_pending()
        elif not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_at(self._next_at, self.publish_pending)

    def publish_pending(self) -> None:
        """Publish output that was not published yet."""
        self._is_scheduled = False
        new = min(self._end - self._told, OUTPUT_EVENT_CHARS)  # within the stored part
        if new == 0:
            return
        self._told = self._end
        self._next_at = self._loop.time() + OUTPUT_INTERVAL_SECONDS
        self._publish({"text": self._text[-new:], "end": self._end})

    def to_json(self) -> dict[str, Any]:
        """`{text, end}`: its last characters, and how many came in all."""
        return {"text": self._text, "end": self._end}
