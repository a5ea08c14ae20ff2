"""The event loop's clock, which stands still while the loop does not run.

Every deadline of asyncio, ours or a library's, is a time of `loop.time()`. So what holds the loop – a coroutine that
never waits, or a thread in C code that keeps the interpreter's lock – takes no time from anybody's limit.
"""

import asyncio
import math
import time
from typing import Any

from agentcore.host.limits import LOOP_TURN_SECONDS

_monotonic = time.monotonic


class LoopClock:
    """Counts each turn of the loop as what it waited for, and at most `LOOP_TURN_SECONDS` beside.

    A turn that takes longer stops the clock until the next one. It never goes back, and may be read in any thread.
    """

    def __init__(self, selector: Any) -> None:
        self._wait = selector.select
        self._turned_at = _monotonic()
        self._stands: tuple[float, float] = (math.inf, 0.0)
        """Where it stops, and how much it is behind; one value, because threads read both."""

    @classmethod
    def install(cls, loop: asyncio.AbstractEventLoop) -> None:
        """Give a running loop this clock, which it keeps; again: nothing happens.

        A loop that is not Python's own, and waits in another way, keeps its own clock.
        """
        selector = getattr(loop, "_selector", None)
        if selector is None or isinstance(getattr(selector.select, "__self__", None), cls):
            return
        clock = cls(selector)
        selector.select = clock._select
        loop.time = clock.time  # type: ignore[method-assign]

    def time(self) -> float:
        """Seconds, as `loop.time()`."""
        stop, behind = self._stands  # first: in a thread, an older moment with newer values would be a step back
        now = _monotonic()
        return min(now, stop) - behind

    def _select(self, timeout: float | None = None) -> Any:
        """Wait as the loop wants to, and take the rest of the turn off the clock."""
        stop = math.inf if timeout is None else self._turned_at + timeout + LOOP_TURN_SECONDS
        behind = self._stands[1]
        self._stands = stop, behind
        found = self._wait(timeout)
        now = self._turned_at = _monotonic()
        self._stands = now + LOOP_TURN_SECONDS, behind + max(0.0, now - stop)
        return found
