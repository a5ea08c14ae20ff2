"""An async context manager that a separate task keeps open, for owners without a single task of their own."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class ContextTask(Generic[T]):
    """Enters a context in one task and leaves it in the same task, whichever tasks use it in between.

    Task groups and time limits inside a context fail if another task leaves it than entered it, which fixtures of
    tests and step-by-step use of an event loop do. `value` is the value of the context.
    """

    def __init__(self, value: T, task: asyncio.Task[None], ending: asyncio.Event) -> None:
        self.value = value
        self._task = task
        self._ending = ending

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[T], name: str = "context") -> Self:
        """Enter the context, which stays open until `close`.

        Raises:
            BaseException: Raised while entering.
        """
        entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        ending = asyncio.Event()
        # in no TaskGroup, which has to be left by the task that entered it: `close` ends this one, and waits
        task = asyncio.create_task(_run_context(context, entered, ending), name=name)
        try:
            await asyncio.wait((task, entered), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait((task,))
            raise
        if not entered.done():
            await task
            raise RuntimeError(f"{name} ended before it was entered")
        return cls(entered.result(), task, ending)

    async def close(self) -> None:
        """Leave the context and wait until it is left; may be called twice.

        Raises:
            BaseException: Raised while leaving.
        """
        self._ending.set()
        await asyncio.shield(self._task)


async def _run_context(
    context: AbstractAsyncContextManager[T], entered: "asyncio.Future[T]", ending: asyncio.Event
) -> None:
    async with context as value:
        entered.set_result(value)
        await ending.wait()
