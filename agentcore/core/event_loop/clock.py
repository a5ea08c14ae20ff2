"""The event loop's clock, which stops while the loop does not run.

Every deadline of asyncio, ours or a library's, is a time of `loop.time()`. So code that blocks the loop – a coroutine
that never waits, or a thread in C code that keeps the interpreter's lock – uses up no other code's time limit.
"""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from agentcore.limits import LOOP_BEAT_SECONDS, LOOP_TURN_SECONDS

_monotonic = time.monotonic
_NEAREST_SECONDS = 0.8 * LOOP_TURN_SECONDS


class LoopClock:
    """Counts for each iteration of the loop the time that it waited, and at most `LOOP_TURN_SECONDS` more.

    A longer iteration stops the clock until the next one. It never goes back, and may be read in any thread.

    Attributes:
        listeners: Called in the loop whenever it iterates, but not more often than every `LOOP_BEAT_SECONDS`. A timer
            would be late after a block, because it uses this very clock.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, selector: Any) -> None:
        self.listeners: list[Callable[[], None]] = []
        self._loop = loop
        self._beat_at = 0.0
        self._wait = selector.select
        self._stands: tuple[float, float] = (_monotonic() + LOOP_TURN_SECONDS, 0.0)
        """When it stops, and how much it is behind; one value, because threads read both."""

    @classmethod
    def install(cls, loop: asyncio.AbstractEventLoop) -> "LoopClock":
        """Install this clock in a running loop permanently, unless the loop has it already.

        Raises:
            TypeError: The loop is not Python's own, and waits in another way.
        """
        selector = getattr(loop, "_selector", None)
        if selector is None:
            raise TypeError(f"agentcore runs in an event loop of asyncio, not in {type(loop).__name__}")
        former = getattr(selector.select, "__self__", None)
        if isinstance(former, cls):
            return former
        clock = cls(loop, selector)
        selector.select = clock._select
        loop.time = clock.time  # type: ignore[method-assign]
        return clock

    def time(self) -> float:
        """Seconds, as `loop.time()`."""
        stop, behind = self._stands  # first: in a thread, an older moment with newer values would be a step back
        now = _monotonic()
        return (now if now < stop else stop) - behind  # noqa: FURB136 - in every turn, and a call costs more

    def _select(self, timeout: float | None = None) -> Any:
        """Wait like the loop's selector, and subtract the rest of the iteration from the clock."""
        if timeout != 0:
            stop, behind = self._stands
            self._stands = math.inf if timeout is None else stop + timeout, behind
        found = self._wait(timeout)
        now = _monotonic()
        stop, behind = self._stands
        # not in each iteration of a busy loop: the clock may stop slightly early
        if timeout != 0 or now > stop - _NEAREST_SECONDS:
            self._stands = now + LOOP_TURN_SECONDS, behind + now - stop if now > stop else behind
        if now > self._beat_at:
            self._beat_at = now + LOOP_BEAT_SECONDS
            for listener in self.listeners:
                self._loop.call_soon(listener)
        return found
