"""`Bell`: rung from any thread, heard in the event loop, at little cost when nobody listens."""

import asyncio
from contextlib import suppress


class Bell:
    """Wakes those who wait for a change; many rings between two turns of the loop are one."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_rung = False

    def ring(self) -> None:
        """Wake everybody who waits now."""
        if self._waiting and not self._is_rung:
            self._is_rung = True
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._wake)

    def next(self) -> asyncio.Future[None]:
        """A future for the next ring; look at what changed after asking for it, and then wait."""
        future = self._loop.create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    def _wake(self) -> None:
        self._is_rung = False
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)
