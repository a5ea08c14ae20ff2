"""Calls that arrive while the module of their tool is starting wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentcore.core.events import EventBus
from agentcore.core.modules.tool_registry import ToolRegistry
from agentcore.errors import ToolError

T = TypeVar("T")

DEFAULT_WAIT_SECONDS = 60.0
"""How long a call without a time limit of its own waits; the time limit of its tool is not known yet."""


async def find_when_started(
    find: Callable[[], Awaitable[T]], registry: ToolRegistry, events: EventBus, tool: str, limit_s: float | None
) -> T:
    """Find a tool, or what a tool serves, and wait while a module that may have it is starting.

    Args:
        find: Finds it now, or raises the reason why it is not there.
        registry: The tools.
        events: The bus on which changes of modules are published.
        tool: The name of the tool, or the address of what it serves.
        limit_s: The time limit of the call; None: `DEFAULT_WAIT_SECONDS`.
    Raises:
        ToolError: `module_starting`: the limit was reached first; or raised by `find`.
    """
    try:
        return await find()
    except ToolError as exc:
        if not registry.modules_to_wait_for(exc):
            raise
    until = asyncio.get_running_loop().time() + (DEFAULT_WAIT_SECONDS if limit_s is None else limit_s)
    changed = asyncio.Event()
    unsubscribe = events.subscribe("module.stateChanged", lambda event: changed.set())
    try:
        while True:
            changed.clear()
            try:
                return await find()
            except ToolError as exc:
                starting = registry.modules_to_wait_for(exc)
                if not starting:
                    raise
                await _wait_for_change(changed, until, tool, starting)
    finally:
        unsubscribe()


async def wait_for_starts(registry: ToolRegistry, events: EventBus, limit_s: float) -> None:
    """Wait until no module of the server is starting any more, at most `limit_s` seconds."""
    changed = asyncio.Event()
    unsubscribe = events.subscribe("module.stateChanged", lambda event: changed.set())
    try:
        async with asyncio.timeout(limit_s):
            while registry.list_starting_modules():
                await changed.wait()
                changed.clear()
    except TimeoutError:
        pass
    finally:
        unsubscribe()


async def _wait_for_change(changed: asyncio.Event, until: float, tool: str, starting: list[str]) -> None:
    try:
        async with asyncio.timeout_at(until):
            await changed.wait()
    except TimeoutError as exc:
        named = ", ".join(starting)
        message = f"{tool!r} may be of a module that is still starting ({named}); try again in a moment"
        raise ToolError("module_starting", message, retryable=True, tool=tool, modules=starting) from exc
