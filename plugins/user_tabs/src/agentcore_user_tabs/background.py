"""Work that goes on beside the calls, kept by whom it belongs to until it has ended."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Background:
    """The tasks of one owner. Whoever makes it ends with `stop` what is left when it closes.

    Args:
        name: The tasks' name, for logs.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something run to its end."""
        # no TaskGroup: timers and events start it, outside of any block that could wait for it
        task = asyncio.get_running_loop().create_task(work, name=self._name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel what runs, and wait for its end."""
        running = self._tasks - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
