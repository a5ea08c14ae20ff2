"""Waiting for a condition that no event announces."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

LIMIT_S = 30.0
_PAUSE_S = 0.01


async def wait_until(condition: Callable[[], T | Awaitable[T]], *, limit_s: float = LIMIT_S) -> T:
    """Wait until a condition, sync or async, returns something true, and return that.

    Raises:
        TimeoutError: The condition did not become true within `limit_s` seconds.
    """
    async with asyncio.timeout(limit_s):
        while True:
            found = condition()
            value: T = await found if inspect.isawaitable(found) else found
            if value:
                return value
            await asyncio.sleep(_PAUSE_S)


def wait_until_sync(condition: Callable[[], T], *, limit_s: float = LIMIT_S) -> T:
    """`wait_until` for tests without an event loop.

    Raises:
        TimeoutError: The condition did not become true within `limit_s` seconds.
    """
    end = time.monotonic() + limit_s
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not true within {limit_s:g} s: {condition}")
        time.sleep(_PAUSE_S)
    return value
