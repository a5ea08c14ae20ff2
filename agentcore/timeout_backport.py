"""Makes `asyncio.timeout` of Python before 3.11.3 work in the clean-up of a task that was cancelled.

There it lets a `CancelledError` through where the time limit has passed, in place of a `TimeoutError`, so what follows
it in the clean-up does not happen: a process is not killed, for example. Debian 12 has Python 3.11.2.
"""

import asyncio
from asyncio import Timeout
from types import TracebackType


def repair_timeouts() -> None:
    """Replace the methods of `asyncio.Timeout` by what Python 3.11.3 does (issue 102780 of CPython)."""
    enter, leave = Timeout.__aenter__, Timeout.__aexit__

    async def __aenter__(self: Timeout) -> Timeout:  # noqa: N807 - it becomes the method
        entered = await enter(self)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - `enter` has checked that
        self._cancelling = task.cancelling()  # type: ignore[attr-defined]  # as newer versions do
        return entered

    async def __aexit__(  # noqa: N807
        self: Timeout, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await leave(self, kind, value, trace)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        before: int = self._cancelling  # type: ignore[attr-defined]
        if self.expired() and kind is asyncio.CancelledError and task.cancelling() <= before:
            raise TimeoutError from value

    Timeout.__aenter__ = __aenter__  # type: ignore[method-assign]
    Timeout.__aexit__ = __aexit__  # type: ignore[method-assign, assignment]
