"""The resource registry and its turns: calls on one resource run one after another, in order."""

import asyncio
import hashlib
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from agentcore.api.resource import Reopening, Resource, ResourceEvent, ResourceStatus
from agentcore.api.result import Image
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host.containment.containment import run_contained
from agentcore.host.containment.foreign_error import log_failure
from agentcore.host.events import EventBus
from agentcore.limits import HOOK_SECONDS, ICON_BYTES, REOPENING_BYTES, RESOURCE_QUEUE, RESOURCES_PER_SESSION
from agentcore.valid_text import valid_text

log = structlog.get_logger(__name__)

OnRelease = Callable[[Resource], Awaitable[None]]


@dataclass(eq=False)
class _Held:
    resource: Resource
    owner: str
    on_release: OnRelease | None = None
    is_planned: bool = False
    is_used: bool = False
    busy: bool = False
    queue: deque[asyncio.Future[None]] = field(default_factory=deque)


class ResourceRegistry:
    """All living resources, whose they are, and whose turn it is."""

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._held: dict[str, _Held] = {}
        self._planned: dict[tuple[str, str], _Held] = {}
        self._next_index: dict[tuple[str, str], int] = {}

    def create(
        self,
        owner: str,
        resource_type: str,
        session_id: str,
        *,
        adapter_type: str = "",
        keys: Mapping[str, str] | None = None,
        on_release: OnRelease | None = None,
    ) -> Resource:
        """Make the session's next resource of a type. The id is formatted here and opaque everywhere else.

        Raises:
            ToolError: `too_many_resources`.
        """
        held = self._make(owner, resource_type, session_id)
        held.resource.adapter_type, held.on_release = adapter_type, on_release
        held.resource.keys.update(keys or {})
        self._held[held.resource.resource_id] = held
        self._changed(held.resource)
        return held.resource

    def plan(self, owner: str, resource_type: str, session_id: str) -> Resource:
        """The resource that a call will act on, if it runs: it has its id, and lives from `begin` on.

        Calls that wait for a person share one, and when none of them runs, there was none.

        Raises:
            ToolError: `too_many_resources`.
        """
        place = (session_id, resource_type)
        held = self._planned.get(place)
        if held is None:
            held = self._planned[place] = self._make(owner, resource_type, session_id)
            held.is_planned = True
        return held.resource

    def planned(self, resource_id: str) -> Resource | None:
        """The resource of this id that is planned and does not live yet."""
        return next(
            (held.resource for held in self._planned.values() if held.resource.resource_id == resource_id), None
        )

    def begin(self, resource: Resource) -> None:
        """Let a planned resource live; nothing to do for any other."""
        place = (resource.session_id, resource.resource_type)
        held = self._planned.get(place)
        if held is None or held.resource is not resource:
            return
        del self._planned[place]
        resource.status = "starting"
        resource.created_at_ms = _now_ms()
        self._held[resource.resource_id] = held
        self._changed(resource)

    def settle(self, resource: Resource, *, is_used: bool) -> None:
        """Note how a call on a resource ended: a planned one that nothing ever stood behind is but planned again."""
        held = self._held.get(resource.resource_id)
        if held is None or held.resource is not resource or not held.is_planned:
            return
        held.is_used = held.is_used or is_used or held.on_release is not None or resource.status != "starting"
        if held.is_used or held.busy:
            return
        del self._held[resource.resource_id]
        self._planned[(resource.session_id, resource.resource_type)] = held
        resource.status = "closed"
        self._changed(resource)

    def adopt(self, owner: str, resource_id: str, on_release: OnRelease) -> Resource:
        """Say how a resource ends that the host made for a call.

        Raises:
            ToolError: `resource_not_found`.
        """
        held = self._find(resource_id, owner)
        held.on_release = on_release
        return held.resource

    def get(self, resource_id: str, owner: str | None = None) -> Resource:
        """The resource; with `owner`, only if it is that module's.

        Raises:
            ToolError: `resource_not_found`.
        """
        return self._find(resource_id, owner).resource

    def skip(self, resource_type: str, session_id: str, index: int) -> None:
        """Give no id with this index any more: one that ended with an earlier server had it."""
        place = (session_id, resource_type)
        self._next_index[place] = max(self._next_index.get(place, 0), index + 1)

    def list(
        self, *, owner: str | None = None, session_id: str | None = None, resource_type: str | None = None
    ) -> list[Resource]:
        """Resources in the order they were made, filtered."""
        return [
            held.resource
            for held in self._held.values()
            if owner in (None, held.owner)
            and session_id in (None, held.resource.session_id)
            and resource_type in (None, held.resource.resource_type)
        ]

    def by_key(self, resource_type: str, key: str, value: str) -> Resource:
        """The resource that bears this key.

        Raises:
            ToolError: `resource_not_found`.
        """
        for held in self._held.values():
            if held.resource.resource_type == resource_type and held.resource.keys.get(key) == value:
                return held.resource
        raise _not_found(value)

    def update(
        self,
        resource_id: str,
        *,
        owner: str | None = None,
        status: ResourceStatus | None = None,
        last_url: str | None = None,
        title: str | None = None,
        icon: Image | None = None,
        keep_running: bool | None = None,
        keys: Mapping[str, str] | None = None,
        reopening: Reopening | None = None,
    ) -> Resource:
        """Change what is given, and tell.

        Raises:
            ToolError: `resource_not_found`.
            ValueError: The icon is too large, or no image; the arguments for opening it again are too large.
        """
        resource = self._find(resource_id, owner).resource
        if reopening is not None:
            _set_reopening(resource, reopening)
        resource.status = status or resource.status
        resource.last_url = valid_text(last_url) if last_url is not None else resource.last_url
        resource.title = valid_text(title) if title is not None else resource.title
        if icon is not None:
            _set_icon(resource, icon)
        resource.keep_running = keep_running if keep_running is not None else resource.keep_running
        resource.keys.update(keys or {})
        self._changed(resource)
        return resource

    def emit(
        self,
        resource_id: str,
        event: ResourceEvent,
        data: Mapping[str, Any],
        *,
        owner: str | None = None,
    ) -> None:
        """Publish `resource.<event>`.

        Raises:
            ToolError: `resource_not_found`.
        """
        self.tell(self._find(resource_id, owner).resource, event, data)

    def tell(self, resource: Resource, event: ResourceEvent, data: Mapping[str, Any]) -> None:
        """The same of a resource that may have gone; pictures are not kept for those who resume."""
        told = {**data, "resourceId": resource.resource_id}
        self._events.publish(f"resource.{event}", told, session_id=resource.session_id, kept=event != "screenshot")

    @asynccontextmanager
    async def turn(self, resource_id: str) -> AsyncIterator[Resource]:
        """Wait for the resource's turn and hold it.

        Raises:
            ToolError: `resource_busy`: the queue is full; `resource_not_found`: it went away meanwhile.
        """
        held = self._find(resource_id)
        await _enter(held)
        try:
            if self._held.get(resource_id) is not held:
                raise _not_found(resource_id)
            held.resource.last_used_at_ms = _now_ms()
            yield held.resource
        finally:
            _leave(held)

    async def release(self, resource_id: str, owner: str | None = None) -> None:
        """End a resource: what waits for it ends with `resource_not_found`. Unknown ids are ignored."""
        held = self._held.get(resource_id)
        if held is None or owner not in (None, held.owner):
            return
        del self._held[resource_id]
        held.resource.status = "closed"
        _wake_all(held)
        if held.on_release is not None:
            try:
                await run_contained(_end(held), HOOK_SECONDS, f"release:{resource_id}", held.owner)
            except asyncio.CancelledError:
                raise
            except BaseException as exc:  # noqa: BLE001 - the border between host and module
                log_failure(log, "resource_release_failed", exc, resource_id=resource_id, module=held.owner)
        self._changed(held.resource)

    async def release_owned(self, owner: str) -> None:
        """End all resources of a module, and forget those that were planned for it."""
        self._planned = {place: held for place, held in self._planned.items() if held.owner != owner}
        for resource in self.list(owner=owner):
            await self.release(resource.resource_id)

    def _make(self, owner: str, resource_type: str, session_id: str) -> _Held:
        place = (session_id, resource_type)
        living = sum(
            1 for held in self._held.values() if (held.resource.session_id, held.resource.resource_type) == place
        )
        if living >= RESOURCES_PER_SESSION:
            raise ToolError(
                "too_many_resources",
                f"session {session_id!r} has {living} resources of type {resource_type!r}; close some first",
                limit=RESOURCES_PER_SESSION,
            )
        index = self._next_index.get(place, 0)
        self._next_index[place] = index + 1
        now = _now_ms()
        resource = Resource(
            f"{resource_type}_{session_id}_{index}",
            resource_type,
            session_id,
            index,
            created_at_ms=now,
            last_used_at_ms=now,
        )
        return _Held(resource, owner)

    def _find(self, resource_id: str, owner: str | None = None) -> _Held:
        held = self._held.get(resource_id)
        if held is None or owner not in (None, held.owner):
            raise _not_found(resource_id)
        return held

    def _changed(self, resource: Resource) -> None:
        self._events.publish("resource.stateChanged", resource.to_json(), session_id=resource.session_id)


async def _enter(held: _Held) -> None:
    if not held.busy:
        held.busy = True
        return
    if len(held.queue) >= RESOURCE_QUEUE:
        raise ToolError(
            "resource_busy",
            f"{RESOURCE_QUEUE} calls wait for {held.resource.resource_id!r} already; try again later",
            retryable=True,
            resource_id=held.resource.resource_id,
            limit=RESOURCE_QUEUE,
        )
    place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    held.queue.append(place)
    try:
        await place
    except asyncio.CancelledError:
        if place.done() and not place.cancelled():
            _leave(held)  # the turn came together with the cancellation: hand it on
        elif place in held.queue:
            held.queue.remove(place)
        raise


def _set_icon(resource: Resource, icon: Image) -> None:
    if len(icon.data) > ICON_BYTES or not icon.mime.startswith("image/"):
        raise ValueError(f"an icon is an image of at most {ICON_BYTES} bytes, not {len(icon.data)} of {icon.mime!r}")
    resource.icon = icon if icon.data else None
    resource.icon_id = hashlib.sha256(icon.data).hexdigest()[:16] if icon.data else ""


def _set_reopening(resource: Resource, reopening: Reopening) -> None:
    tool, arguments = reopening
    encoded = to_json(dict(arguments))
    if len(encoded) > REOPENING_BYTES:
        raise ValueError(f"the arguments of {tool!r} have {len(encoded)} bytes, and {REOPENING_BYTES} are the bound")
    resource.reopening = (tool, json.loads(encoded)) if tool else None


def _leave(held: _Held) -> None:
    """Hand the turn to the next who still waits; `busy` stays set on the way."""
    while held.queue:
        place = held.queue.popleft()
        if not place.done():
            place.set_result(None)
            return
    held.busy = False


def _wake_all(held: _Held) -> None:
    for place in held.queue:
        if not place.done():
            place.set_exception(_not_found(held.resource.resource_id))
    held.queue.clear()


async def _end(held: _Held) -> None:
    if held.on_release is not None:
        await held.on_release(held.resource)


def _not_found(resource_id: str) -> ToolError:
    return ToolError(
        "resource_not_found",
        f"there is no resource {resource_id!r}; it was closed, or belongs to another session",
        resource_id=resource_id,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
