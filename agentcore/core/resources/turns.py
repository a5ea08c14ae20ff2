"""The turns of one resource: who acts on it, and who waits."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agentcore.api.resource import Resource
from agentcore.bounds import RESOURCE_QUEUE
from agentcore.errors import ToolError

OnRelease = Callable[[Resource], Awaitable[None]]


@dataclass(eq=False)
class Entry:
    """A resource with its owner and its queue.

    Args:
        busy: True while a call has locked it.
        lost_by: Why it ends without being closed.
        replaces: The id of the ended resource that it replaces.
    """

    resource: Resource
    owner: str
    on_release: OnRelease | None = None
    is_planned: bool = False
    is_used: bool = False
    busy: bool = False
    lost_by: str = ""
    replaces: str | None = None
    queue: deque[asyncio.Future[None]] = field(default_factory=deque)


async def acquire_lock(entry: Entry) -> None:
    """Wait for the turn of a resource.

    Raises:
        ToolError: `resource_busy`: the queue is full.
    """
    if not entry.busy:
        entry.busy = True
        return
    if len(entry.queue) >= RESOURCE_QUEUE:
        raise ToolError(
            "resource_busy",
            f"{RESOURCE_QUEUE} calls wait for {entry.resource.resource_id!r} already; try again later",
            retryable=True,
            resource_id=entry.resource.resource_id,
            limit=RESOURCE_QUEUE,
        )
    turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    entry.queue.append(turn)
    try:
        await turn
    except asyncio.CancelledError:
        if turn.done() and not turn.cancelled():
            release_lock(entry)  # the turn came together with the cancellation: hand it on
        elif turn in entry.queue:
            entry.queue.remove(turn)
        raise


def release_lock(entry: Entry) -> None:
    """Pass the lock to the next waiting call; `busy` stays set meanwhile."""
    while entry.queue:
        turn = entry.queue.popleft()
        if not turn.done():
            turn.set_result(None)
            return
    entry.busy = False


def wake_all(entry: Entry, reason: str) -> None:
    """End the waiting of all, because the resource is gone."""
    for turn in entry.queue:
        if not turn.done():
            turn.set_exception(not_found(entry.resource.resource_id, reason))
    entry.queue.clear()


def not_found(resource_id: str, reason: str = "") -> ToolError:
    """Return the error of a call whose resource does not exist."""
    message = reason or f"there is no resource {resource_id!r}; it was closed, or belongs to another session"
    # a reason may contain text from outside, such as a page's address
    return ToolError("resource_not_found", message, untrusted=bool(reason), resource_id=resource_id)
