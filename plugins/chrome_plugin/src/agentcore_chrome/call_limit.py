"""The time limit of a whole call, including all steps and cleanup, whatever the page or its browser does."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from agentcore.api import ToolError

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How much longer than its `timeoutMs` a call may take, to get the reason from the driver and report it."""

_ANSWER_SECONDS = 0.1
"""The part of the grace period that is reserved for the answer itself."""

_current: ContextVar["CallLimit | None"] = ContextVar("call_limit", default=None)


class CallLimit:
    """The time limit of one call, which is paused while the call waits for a user.

    Args:
        limit_ms: The caller's limit.
    """

    def __init__(self, limit_ms: int) -> None:
        self._limit_ms = limit_ms
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + limit_ms / 1000
        self._timeout = asyncio.timeout_at(self._until + GRACE_SECONDS)
        self.is_over = False

    async def run(self, work: Awaitable[T]) -> T:
        """Run the call's work.

        Raises:
            ToolError: `timeout`: it was not done in time, and no step could report why.
        """
        token = _current.set(self)
        try:
            async with self._timeout:
                return await work
        except TimeoutError as exc:
            raise ToolError(
                "timeout",
                f"the browser did not answer within {self._limit_ms} ms; try again, or allow more with timeoutMs",
                retryable=True,
                timeoutMs=self._limit_ms,
            ) from exc
        finally:
            self.is_over = True  # its background work has limits of its own
            _current.reset(token)

    def left_s(self, grace_s: float = 0) -> float:
        """Return the seconds until `grace_s` after the limit, at least 0."""
        return max(0.0, self._until + grace_s - self._loop.time())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the limit."""
        began = self._loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            self._until += self._loop.time() - began
            self._timeout.reschedule(self._until + GRACE_SECONDS)


def work_s(wanted_s: float, grace_s: float = 0) -> float:
    """Return how long a step of the call's actual work may take: its own limit, or what the call has left.

    Args:
        wanted_s: The step's own limit.
        grace_s: How much longer the driver may take to report the timeout itself, with the reason.
    """
    limit = _get_current_limit()
    return wanted_s + grace_s if limit is None else min(wanted_s, limit.left_s()) + grace_s


def cleaning_s(wanted_s: float) -> float:
    """Return how long reading or cleaning up after the work may take, which may use the grace period."""
    limit = _get_current_limit()
    return wanted_s if limit is None else min(wanted_s, limit.left_s(GRACE_SECONDS - _ANSWER_SECONDS))


def work_ms(wanted_ms: int) -> int:
    """Return `work_s` in milliseconds, at least 1, because 0 means no limit to the driver."""
    return max(1, int(work_s(wanted_ms / 1000) * 1000))


@contextmanager
def not_counted() -> Iterator[None]:
    """Pause the call's limit while it waits for a user."""
    limit = _get_current_limit()
    if limit is None:
        yield
        return
    with limit.paused():
        yield


def _get_current_limit() -> CallLimit | None:
    limit = _current.get()
    return None if limit is None or limit.is_over else limit
