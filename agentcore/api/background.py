"""Background tasks of a module, which their owner cancels and waits for."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """The tasks of one owner, such as a module that makes it, and stops it in its `shutdown`.

    Whoever makes it ends with `cancel` or `stop` what is left when it closes.

    Args:
        name: The tasks' name, for logs.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Let something run to its end."""
        # no TaskGroup: events and timers start it, outside of any block that could wait for it
        task = asyncio.get_running_loop().create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Cancel what runs, but for the task that asks for it."""
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()

    async def stop(self) -> None:
        """Cancel what runs, and wait for its end."""
        self.cancel()
        await asyncio.gather(*self._tasks - {asyncio.current_task()}, return_exceptions=True)
