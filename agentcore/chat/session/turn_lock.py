"""The lock of a session: at most one turn runs in it, and nothing changes its turn meanwhile."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TurnLock:
    """Held by a session's running turn, or briefly by work that must not run beside one.

    It is passed on in the order of requests. Unlike with `asyncio.Lock`, a caller can wait for brief work and still
    decline to wait for a turn, so that of several messages that arrive at the same time one starts a turn, and the
    others are queued or refused.
    """

    def __init__(self) -> None:
        self._is_held = False
        self._has_turn = False
        self._waiting: deque[tuple[asyncio.Future[bool], bool]] = deque()

    @property
    def is_held(self) -> bool:
        """True while a turn or brief work holds it."""
        return self._is_held

    @property
    def has_turn(self) -> bool:
        """True while a turn holds it."""
        return self._has_turn

    async def acquire(self) -> None:
        """Acquire it, after a running turn has ended."""
        await self._acquire(waits_for_turn=True)

    async def acquire_unless_turn(self) -> bool:
        """Acquire it unless a turn runs, or starts while the caller waits; False if it was not acquired."""
        return await self._acquire(waits_for_turn=False)

    def mark_turn(self) -> None:
        """Mark the holder as a turn."""
        self._has_turn = True
        for waiter, waits_for_turn in self._waiting:
            if not (waits_for_turn or waiter.done()):
                waiter.set_result(False)

    def release(self) -> None:
        """Pass it on to the next that waits."""
        self._has_turn = False
        while self._waiting:
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(True)
                return
        self._is_held = False

    @asynccontextmanager
    async def lock_session(self) -> AsyncIterator[None]:
        """Lock the session for the block, after a running turn has ended."""
        await self.acquire()
        try:
            yield
        finally:
            self.release()

    async def _acquire(self, *, waits_for_turn: bool) -> bool:
        if not self._is_held:
            self._is_held = True
            return True
        if self._has_turn and not waits_for_turn:
            return False
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((waiter, waits_for_turn))
        try:
            return await waiter
        except asyncio.CancelledError:
            # it may have been passed on to the cancelled caller already
            if waiter.done() and not waiter.cancelled() and waiter.result():
                self.release()
            raise
