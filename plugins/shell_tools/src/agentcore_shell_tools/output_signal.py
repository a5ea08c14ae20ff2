"""`Bell`: wakes those who wait for output, and listens only while somebody does."""

import asyncio
from collections.abc import Callable

_QUIET_S = 0.02
"""Between two wakings: who waits for a flood looks at it so often, and not at each block of it."""


class Bell:
    """Wakes those who wait for a change: at once after a pause, and at most every so often.

    Args:
        listen: Is called when somebody begins to wait; the next change after it has to ring.
    """

    def __init__(self, listen: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._listen = listen
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_rung = self._is_listening = False
        self._woken_at = 0.0

    def notify_waiters(self) -> None:
        """Wake everybody who waits now."""
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
        """A future for the next ring; look at what changed after asking for it, and then wait."""
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
