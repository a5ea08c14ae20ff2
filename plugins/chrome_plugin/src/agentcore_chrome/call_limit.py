"""How long one call may take in all: every step of it, and what it cleans up, whatever the page or its browser does."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from agentcore.api import ToolError

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How much longer than its `timeoutMs` a call may take: to hear from the driver what kept it, and to say so."""

_ANSWER_SECONDS = 0.1
"""Of the grace, what is kept for the answer itself."""

_current: ContextVar["CallLimit | None"] = ContextVar("call_limit", default=None)


class CallLimit:
    """The time of one call, which does not run while a person drives the page.

    Args:
        limit_ms: What the caller allows.
    """

    def __init__(self, limit_ms: int) -> None:
        self._limit_ms = limit_ms
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + limit_ms / 1000
        self._timeout = asyncio.timeout_at(self._until + GRACE_SECONDS)
        self.is_over = False

    async def run(self, work: Awaitable[T]) -> T:
        """Do the call's work.

        Raises:
            ToolError: `timeout`: it was not done in time, and no step of it could say why.
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
            self.is_over = True  # what it left running in the background has limits of its own
            _current.reset(token)

    def left_s(self, grace_s: float = 0) -> float:
        """Seconds until the limit, or until so long after it; never less than 0."""
        return max(0.0, self._until + grace_s - self._loop.time())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the time stand still."""
        began = self._loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            self._until += self._loop.time() - began
            self._timeout.reschedule(self._until + GRACE_SECONDS)


def work_s(wanted_s: float, grace_s: float = 0) -> float:
    """How long a step may take that does what the call is for: what it wants, or what the call has left.

    Args:
        wanted_s: Its own limit.
        grace_s: How much longer the driver may take to say itself that time is up, and why.
    """
    limit = _get_current_limit()
    return wanted_s + grace_s if limit is None else min(wanted_s, limit.left_s()) + grace_s


def cleaning_s(wanted_s: float) -> float:
    """How long a step may take that looks or cleans up after the work: within the call's grace, too."""
    limit = _get_current_limit()
    return wanted_s if limit is None else min(wanted_s, limit.left_s(GRACE_SECONDS - _ANSWER_SECONDS))


def work_ms(wanted_ms: int) -> int:
    """The same as `work_s` in milliseconds, at least 1, for the driver (which takes 0 for none)."""
    return max(1, int(work_s(wanted_ms / 1000) * 1000))


@contextmanager
def not_counted() -> Iterator[None]:
    """A wait that is a person's: the call's time stands still."""
    limit = _get_current_limit()
    if limit is None:
        yield
        return
    with limit.paused():
        yield


def _get_current_limit() -> CallLimit | None:
    limit = _current.get()
    return None if limit is None or limit.is_over else limit
