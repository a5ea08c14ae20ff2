"""A resource as the registry holds it, and its turns: calls on it run one after another, in order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agentcore.api.resource import Resource
from agentcore.bounds import REASON_CHARS, RESOURCE_QUEUE
from agentcore.errors import ToolError

OnRelease = Callable[[Resource], Awaitable[None]]


@dataclass(eq=False)
class Entry:
    """A living resource, or a planned one.

    Args:
        owner: The module whose it is.
        on_release: Ends what stands behind it.
        is_planned: Whether a call planned it.
        is_used: Whether anything ever stood behind it.
        busy: Whether a call has its turn.
        queue: Those that wait for theirs.
    """

    resource: Resource
    owner: str
    on_release: OnRelease | None = None
    is_planned: bool = False
    is_used: bool = False
    busy: bool = False
    queue: deque[asyncio.Future[None]] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Gone:
    """What is remembered of a resource that was released: its id (under no key) and its keys, and why it is gone."""

    resource_type: str
    session_id: str
    names: frozenset[tuple[str | None, str]]
    reason: str

    @classmethod
    def of(cls, resource: Resource, reason: str) -> "Gone":
        names = frozenset(((None, resource.resource_id), *resource.keys.items()))
        return cls(resource.resource_type, resource.session_id, names, reason[:REASON_CHARS])


async def enter(entry: Entry) -> None:
    """Wait for the turn of a resource.

    Raises:
        ToolError: `resource_busy`: the queue is full; `resource_not_found`: it went away meanwhile.
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
            leave(entry)  # the turn came together with the cancellation: hand it on
        elif turn in entry.queue:
            entry.queue.remove(turn)
        raise


def leave(entry: Entry) -> None:
    """Hand the turn to the next who still waits; `busy` stays set on the way."""
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
    """What those get who mean a resource that is not there."""
    message = reason or f"there is no resource {resource_id!r}; it was closed, or belongs to another session"
    # a reason may hold words from outside, such as a page's address
    return ToolError("resource_not_found", message, untrusted=bool(reason), resource_id=resource_id)
