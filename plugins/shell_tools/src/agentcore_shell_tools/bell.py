"""`Bell`: rung from any thread, heard in the event loop, at little cost when nobody listens."""

import asyncio
from contextlib import suppress

_QUIET_S = 0.02
"""Between two wakings: a flood that woke the loop for each block would fight with it for the interpreter."""


class Bell:
    """Wakes those who wait for a change: at once after a pause, and at most every so often."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_rung = False
        self._woken_at = 0.0

    def ring(self) -> None:
        """Wake everybody who waits now."""
        if self._waiting and not self._is_rung:
            self._is_rung = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._hear)

    def next(self) -> asyncio.Future[None]:
        """A future for the next ring; look at what changed after asking for it, and then wait."""
        future = self._loop.create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    def _hear(self) -> None:
        quiet_until = self._woken_at + _QUIET_S
        if self._loop.time() >= quiet_until:
            self._wake()
        else:
            self._loop.call_at(quiet_until, self._wake)

    def _wake(self) -> None:
        self._is_rung = False
        self._woken_at = self._loop.time()
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)
