"""How many previews of one caller run at one time, so that none fills the threads that all of them use."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from agentcore.limits import PREVIEW_SECONDS, PREVIEW_THREAD_SECONDS, PREVIEWS_PER_CALLER

T = TypeVar("T")


class PreviewTurn:
    """The turn of one preview, which lasts until the preview and the thread in which it ran have ended.

    Args:
        release: Called at the end.
    """

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self._is_running = True
        self._has_thread = False

    def end_preview(self) -> None:
        """Mark that nothing waits for the preview any more; its thread may still run."""
        self._is_running = False
        self._release_at_end()

    async def run_in_thread(self, work: Callable[[], T]) -> T:
        """Run a preview in a thread, which cannot be ended from outside."""
        loop = asyncio.get_running_loop()
        self._has_thread = True
        late = loop.call_later(PREVIEW_SECONDS + PREVIEW_THREAD_SECONDS, self._end_thread)

        def end() -> None:
            late.cancel()
            self._end_thread()

        def run() -> T:
            try:
                return work()
            finally:
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(end)

        return await asyncio.to_thread(run)

    def _end_thread(self) -> None:
        self._has_thread = False
        self._release_at_end()

    def _release_at_end(self) -> None:
        if not self._is_running and not self._has_thread:
            self._release()


class PreviewTurns:
    """Gives the previews of each caller their turns, in the order in which they come."""

    def __init__(self) -> None:
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    async def wait_for_turn(self, account: str) -> PreviewTurn:
        """Wait until the number of a caller's running previews is below the limit; the caller ends the turn.

        Args:
            account: The caller; see `Call.account`.
        """
        turns = self._turns.setdefault(account, asyncio.Semaphore(PREVIEWS_PER_CALLER))
        self._users[account] += 1
        try:
            await turns.acquire()
        except BaseException:
            self._remove_user(account)
            raise

        def release() -> None:
            turns.release()
            self._remove_user(account)

        return PreviewTurn(release)

    def _remove_user(self, account: str) -> None:
        self._users[account] -= 1
        if not self._users[account]:
            del self._users[account]
            del self._turns[account]
