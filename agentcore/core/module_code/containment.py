"""Runs a module's coroutine so that it can neither block nor end the core."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Generic, TypeVar

import structlog

from agentcore.core.module_code.module_error import reason_of, traceback_of
from agentcore.core.module_code.ownership import OWNER
from agentcore.limits import CANCEL_GRACE_SECONDS

T = TypeVar("T")
log = structlog.get_logger(__name__)

_abandoned: set[asyncio.Task[Any]] = set()


class ModuleExit(Exception):  # noqa: N818 - it says what happened
    """A module raised SystemExit, CancelledError or the like itself; the message says which."""


class Contained(Generic[T]):
    """A coroutine in a separate task that can be ended, even if it refuses to be cancelled.

    The creator awaits `wait()`. `cancel_with(error)` makes that raise `error` at once or, if the task cleans up
    first, within the grace period; a task that still runs after that is abandoned and logged, and nothing waits for it.

    Args:
        owner: The module whose code it is, and to which everything that it starts is attributed; empty: unchanged.
    """

    __slots__ = ("_cut", "_late", "_owner", "_pauses", "_timer", "_waiter", "task")

    def __init__(self, work: Coroutine[Any, Any, T], name: str, owner: str = "") -> None:
        loop = asyncio.get_running_loop()
        self._owner = owner
        self._cut: BaseException | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._late: BaseException | None = None
        self._pauses = 0
        self._waiter: asyncio.Future[None] = loop.create_future()
        # in no TaskGroup, which waits for tasks that refuse to be cancelled: `wait` ends this one, or abandons it
        self.task: asyncio.Task[T] = loop.create_task(self._without_exit(work), name=name)

    def cancel_at(self, when: float, error: BaseException) -> None:
        """End the task at a time of the event loop's clock; a later call replaces the time."""
        self.cancel_timer()
        self._late = error
        if not self._pauses:
            self._timer = asyncio.get_running_loop().call_at(when, self.cancel_with, error)

    def pause_timer(self) -> None:
        """Stop the clock of `cancel_at`, until `resume_timer` was called as often."""
        self._pauses += 1
        self.cancel_timer()

    def resume_timer(self, when: float) -> None:
        """Let the clock run again, to another time than before."""
        self._pauses -= 1
        if not self._pauses and self._late is not None:
            self.cancel_at(when, self._late)

    def cancel_timer(self) -> None:
        """Cancel the timer set by `cancel_at`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def cancel_with(self, error: BaseException) -> None:
        """End the task; `wait` raises `error`. Only the first error counts, and a finished task is not changed."""
        if self._cut is None and not self.task.done():
            self._cut = error
            self._notify_waiter()

    async def wait(self) -> T:
        """Return the coroutine's result.

        Raises:
            BaseException: Raised by the coroutine, or passed to `cancel_with`.
            ModuleExit: It tried to end the process.
        """
        try:
            await self._waiter
        except asyncio.CancelledError:
            self.task.cancel()
            await self._wait_or_abandon()
            raise
        finally:
            self.cancel_timer()
        if self._cut is None:
            if self.task.cancelled():
                raise ModuleExit("it cancelled itself")
            return self.task.result()
        self.task.cancel()
        await self._wait_or_abandon()
        raise self._cut

    async def _wait_or_abandon(self) -> None:
        if not self.task.done():
            await asyncio.wait({self.task}, timeout=CANCEL_GRACE_SECONDS)
        if not self.task.done():
            log.warning("task_abandoned", task=self.task.get_name(), grace_s=CANCEL_GRACE_SECONDS)
            _abandoned.add(self.task)
            self.task.add_done_callback(_abandoned.discard)
        self.task.add_done_callback(_consume_exception)

    async def _without_exit(self, work: Coroutine[Any, Any, T]) -> T:
        """Keep SystemExit and KeyboardInterrupt from passing through the event loop, which they would end."""
        if self._owner:
            OWNER.set(self._owner)
        try:
            return await work
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as exc:
            raise ModuleExit(reason_of(exc)) from exc
        finally:
            self._notify_waiter()  # not in a callback of the task: saves one iteration of the event loop per call

    def _notify_waiter(self) -> None:
        if not self._waiter.done():
            self._waiter.set_result(None)


def report_loop_error(_loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log an uncaught error, as the event loop's exception handler.

    asyncio's own handler formats the exception, which may come from a module.
    """
    exc = context.get("exception")
    task = context.get("task") or context.get("future")
    log.error(
        "loop_error",
        reason=context.get("message"),
        task=task.get_name() if type(task) is asyncio.Task else None,
        traceback=None if exc is None else traceback_of(exc),
    )


def is_abandoned(task: asyncio.Task[Any]) -> bool:
    """True for a task that refused to be cancelled, still runs, and that nothing waits for."""
    return task in _abandoned


def _consume_exception(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


async def run_contained(work: Coroutine[Any, Any, T], limit_s: float, name: str, owner: str) -> T:
    """Run a module's coroutine under a time limit that applies whatever it does.

    The limit uses the loop's clock: time in which the loop did not run is not counted (`event_loop/clock.py`).

    Raises:
        TimeoutError: It was not done in time.
        BaseException: Raised by the coroutine; `ModuleExit` for an attempt to end the process.
    """
    contained = Contained(work, name, owner)
    contained.cancel_at(asyncio.get_running_loop().time() + limit_s, TimeoutError(f"not done within {limit_s:g} s"))
    return await contained.wait()


def without_exit(work: Callable[[], T]) -> T:
    """Run a module's function at once, and convert exceptions that would end a thread, the loop or the process.

    Raises:
        Exception: Raised by it; `ModuleExit` for one that is not an `Exception`.
    """
    try:
        return work()
    except Exception:
        raise
    except BaseException as exc:
        raise ModuleExit(reason_of(exc)) from exc
