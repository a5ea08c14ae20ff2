"""`Bell`: wakes tasks that wait for output, and listens for output only while there are any."""

import asyncio
from collections.abc import Callable

_QUIET_S = 0.02
"""Minimum time between two wake-ups: waiters process a flood of output at this rate, not block by block."""


class Bell:
    """Wakes the waiters for a change: at once after a pause, and at most every `_QUIET_S` seconds.

    Args:
        listen: Called when a task starts to wait; `notify_waiters` must be called on the next change after it.
    """

    def __init__(self, listen: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._listen = listen
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_rung = self._is_listening = False
        self._woken_at = 0.0

    def notify_waiters(self) -> None:
        """Wake all current waiters, now or at the end of the minimum time between two wake-ups."""
        self._is_listening = False
        if not self._waiting or self._is_rung:
            return
        quiet_until = self._woken_at + _QUIET_S
        if self._loop.time() >= quiet_until:
            self._wake_waiters()
        else:
            self._is_rung = True
            self._loop.call_at(quiet_until, self._wake_waiters)

    def next_change(self) -> asyncio.Future[None]:
        """Return a future for the next change; check the state after calling this, and then await it."""
        future = self._loop.create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if not self._is_listening:
            self._is_listening = True
            self._listen()
        return future

    def _wake_waiters(self) -> None:
        self._is_rung = False
        self._woken_at = self._loop.time()
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)
