"""The common base of call contexts: a tool may run in a thread, and uses the event loop of its call from there."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from agentcore.errors import ToolError

T = TypeVar("T")


class ThreadedContext:
    """Passes work of a tool's thread to the event loop in which the context was created."""

    __slots__ = ("_loop", "_thread")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def _find_call_task(self) -> asyncio.Task[Any] | None:
        """Return the task that carries out the call; None: it has not begun."""
        raise NotImplementedError

    def block_on(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.get_ident() == self._thread:
            work.close()
            raise RuntimeError("block_on is for sync tools, which run in a thread; here, await it")
        try:
            return asyncio.run_coroutine_threadsafe(self._within_call(work), self._loop).result()
        except concurrent.futures.CancelledError as exc:
            raise ToolError("cancelled", "The call ended before this was done.") from exc

    async def _within_call(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for work of the call's thread, but no longer than the call runs."""
        waiting = asyncio.current_task()
        call = self._find_call_task()
        assert waiting is not None and call is not None  # noqa: S101, PT018 - a task runs this, for a call that runs

        def cancel_waiting(_: asyncio.Task[Any]) -> None:
            waiting.cancel()

        call.add_done_callback(cancel_waiting)
        try:
            return await work
        finally:
            call.remove_done_callback(cancel_waiting)

    def _run_in_loop(self, work: Callable[..., None], *args: Any) -> None:
        """Call a function in the event loop, at once if this is its thread."""
        if threading.get_ident() == self._thread:
            work(*args)
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: no listener is left
                self._loop.call_soon_threadsafe(work, *args)
