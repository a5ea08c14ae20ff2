"""The resource registry and its turns: calls on one resource run one after another, in order."""

import asyncio
import hashlib
import json
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, fields
from typing import Any, NamedTuple

import structlog

from agentcore.api import Image
from agentcore.api.resource import SERVICE_TYPE, Reopening, Resource, ResourceEvent, ResourceUpdate
from agentcore.core.declarations.hosted_names import host_in, host_title, pool_of
from agentcore.core.event_types import NOT_KEPT
from agentcore.core.events import EventBus
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure
from agentcore.core.resources.last_seen import LastSeen
from agentcore.core.resources.used_indexes import UsedIndexes
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import (
    HOOK_SECONDS,
    ICON_BYTES,
    REASON_CHARS,
    REOPENING_BYTES,
    RESOURCE_INDEXES_AHEAD,
    RESOURCE_QUEUE,
    RESOURCES_PER_SESSION,
    RESOURCES_REMEMBERED,
)
from agentcore.net.url_policy import ServiceAddress
from agentcore.valid_text import valid_text

log = structlog.get_logger(__name__)

_ENDED = "{!r} ended with an earlier run of the server; name none, for the first of this session"


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


@dataclass(frozen=True, slots=True)
class _Gone:
    """A resource that was released: its id (under no key) and its keys, and the reason."""

    resource_type: str
    session_id: str
    names: frozenset[tuple[str | None, str]]
    reason: str

    @classmethod
    def from_resource(cls, resource: Resource, reason: str) -> "_Gone":
        names = frozenset(((None, resource.resource_id), *resource.keys.items()))
        return cls(resource.resource_type, resource.session_id, names, reason[:REASON_CHARS])


class _Ended(NamedTuple):
    """Data of an ended resource for its replacement, the first one that a call creates.

    Args:
        lost_by: See `Resource.lost_by`.
        host: Only a resource on this host or in this pool replaces it; empty: one at the server.
    """

    last_url: str | None
    lost_by: str = ""
    host: str = ""


class ResourceRegistry:
    """All existing resources, their owners, and their queues."""

    def __init__(self, events: EventBus, indexes: UsedIndexes | None = None) -> None:
        self._events = events
        self.indexes = indexes or UsedIndexes()
        self._entries: dict[str, Entry] = {}
        self._planned: dict[tuple[str, str], dict[str, Entry]] = {}
        self._gone: deque[_Gone] = deque(maxlen=RESOURCES_REMEMBERED)
        self._ended: dict[tuple[str, str], dict[int, _Ended]] = {}
        self._reserved: dict[tuple[tuple[str, str], str], int] = {}

    def create(
        self,
        owner: str,
        resource_type: str,
        session_id: str,
        *,
        adapter_type: str = "",
        keys: Mapping[str, str] | None = None,
        on_release: OnRelease | None = None,
        former_id: str | None = None,
    ) -> Resource:
        """See `agentcore.api.resource.Resources`. Only this method formats the id, which is opaque everywhere else."""
        series = (session_id, resource_type)
        self._pop_ended(series, owner)
        entry = self._make_entry(owner, resource_type, session_id, self._free_index(series, former_id))
        entry.resource.adapter_type = adapter_type
        entry.on_release = on_release
        entry.resource.keys.update(keys or {})
        self._add_entry(entry)
        return entry.resource

    def plan_resource(self, owner: str, resource_type: str, session_id: str) -> Resource:
        """Return the resource that a call will act on, if it runs: it has its id, and exists once it is started.

        Calls that wait for the user share one on each host; if none of them runs, it is never created.

        Raises:
            ToolError: `too_many_resources`.
        """
        series = (session_id, resource_type)
        host = host_in(owner)
        entry = self._planned.get(series, {}).get(host)
        if entry is None:
            entry = self._make_entry(owner, resource_type, session_id, self._reserved.pop((series, host), None))
            entry.is_planned = True
            index, ended = self._pop_ended(series, owner)
            entry.resource.last_url = ended.last_url
            entry.resource.lost_by = ended.lost_by
            entry.replaces = None if index is None else _id_of(series, index)
            self._planned.setdefault(series, {})[host] = entry
        return entry.resource

    def reserve_id(self, session_id: str, resource_id: str, host: str) -> None:
        """Reserve the id of a resource that an earlier process had planned, for its replacement.

        A waiting call names it, and nothing else may get it meanwhile. Ids that were in use are not reserved.
        """
        prefix, index = _parts_of(resource_id, session_id)
        series = (session_id, prefix)
        if index is not None and index >= self.indexes.next_index(series):
            self.indexes.skip_to(series, index + 1)
            self._reserved[series, host] = index

    def find_planned_resource(self, resource_id: str) -> Resource | None:
        """Return the planned resource of this id that does not exist yet."""
        entry = self._find_planned(resource_id)
        return None if entry is None else entry.resource

    def _find_planned(self, resource_id: str) -> Entry | None:
        entries = (entry for planned in self._planned.values() for entry in planned.values())
        return next((entry for entry in entries if entry.resource.resource_id == resource_id), None)

    def start_planned(self, resource: Resource) -> None:
        """Start a planned resource; does nothing for any other."""
        series = (resource.session_id, resource.resource_type)
        planned = self._planned.get(series, {})
        entry = next((each for each in planned.values() if each.resource is resource), None)
        if entry is None:
            return
        del planned[host_in(entry.owner)]
        if not planned:
            del self._planned[series]
        resource.status = "starting"
        resource.created_at_ms = _now_ms()
        self._add_entry(entry)

    def record_call_end(self, resource: Resource, *, is_used: bool) -> None:
        """Record the end of a call on a resource: a planned one that was never opened is planned again."""
        entry = self._entries.get(resource.resource_id)
        if entry is None or entry.resource is not resource or not entry.is_planned:
            return
        entry.is_used = entry.is_used or is_used or entry.on_release is not None or resource.status != "starting"
        if entry.is_used or entry.busy:
            return
        del self._entries[resource.resource_id]
        series = (resource.session_id, resource.resource_type)
        self._planned.setdefault(series, {})[host_in(entry.owner)] = entry
        resource.status = "closed"
        self._publish_state(resource)

    def adopt(self, owner: str, resource_id: str, on_release: OnRelease) -> Resource:
        entry = self._find_entry(resource_id, owner)
        entry.on_release = on_release
        return entry.resource

    def admit_resource(self, owner: str, resource: Resource, on_release: OnRelease | None = None) -> Resource:
        """Add a resource that was created in another process; one that exists here already is returned unchanged.

        Args:
            on_release: Ends it in its process.
        Raises:
            ToolError: `resource_taken`: its id has the wrong form, belongs to another module, or is too far beyond the
                next free one, because the session's next ids continue from its index. `too_many_resources`.
        """
        series = (resource.session_id, resource.resource_type)
        entry = self._entries.get(resource.resource_id)
        if resource.resource_id != _id_of(series, resource.index) or (entry is not None and entry.owner != owner):
            raise ToolError("resource_taken", f"the id {resource.resource_id!r} is not free", retryable=True)
        if entry is None:
            self._check_room(owner, series)
            if resource.index > self.indexes.next_index(series) + RESOURCE_INDEXES_AHEAD:
                raise ToolError(
                    "resource_taken",
                    f"the id {resource.resource_id!r} is more than {RESOURCE_INDEXES_AHEAD:,} beyond the next free one",
                    limit=RESOURCE_INDEXES_AHEAD,
                )
            entry = Entry(resource, owner, on_release)
            self._add_entry(entry)
        return entry.resource

    def owner_of(self, resource_id: str) -> str | None:
        """The module whose a resource is; None: there is none of this id."""
        entry = self._entries.get(resource_id)
        return None if entry is None else entry.owner

    def host_of(self, resource_id: str) -> str | None:
        """Return the foreign machine of an existing or planned resource; empty: the server; None: there is none."""
        entry = self._entries.get(resource_id) or self._find_planned(resource_id)
        return None if entry is None else host_in(entry.owner)

    def to_json(self, resource: Resource) -> dict[str, Any]:
        """Return a resource in its wire format, with its foreign machine."""
        host = self.host_of(resource.resource_id)
        return resource.to_json() | ({"host": host} if host else {})

    def next_index(self, session_id: str, resource_type: str) -> int:
        """The index of the resource of this type that the session gets next."""
        return self.indexes.next_index((session_id, resource_type))

    def get(self, resource_id: str, owner: str | None = None) -> Resource:
        """The resource; with `owner`, only if it is that module's.

        Raises:
            ToolError: `resource_not_found`.
        """
        return self._find_entry(resource_id, owner).resource

    def find_by_short_id(self, session_id: str, resource_type: str, short_id: str) -> Resource | None:
        """Return the existing or planned resource of a session with this short id."""
        planned = self._planned.get((session_id, resource_type), {}).values()
        own = (entry.resource for entry in (*self._entries.values(), *planned))
        return next(
            (
                resource
                for resource in own
                if (resource.session_id, resource.resource_type) == (session_id, resource_type)
                and resource.short_id == short_id
            ),
            None,
        )

    def list_services(self, session_id: str) -> list[ServiceAddress]:
        """Return the addresses of the session's services on this machine; those on foreign machines are not here."""
        services = self.list(session_id=session_id, resource_type=SERVICE_TYPE, host="")
        return [
            ServiceAddress(service.short_id, service.last_url, _problem_of(service))
            for service in services
            if service.status in ("ready", "failed") and service.last_url
        ]

    def record_ended(self, seen: LastSeen) -> None:
        """Record a resource that ended with an earlier server, or before: its id is not used again.

        The first resource that a call creates for the session on the same host gets the last address of the first that
        ended.
        """
        series = (seen.chat_session_id, seen.resource_type)
        self.indexes.record_used(series, seen.index)
        self._ended.setdefault(series, {})[seen.index] = _Ended(seen.last_url, seen.lost_by, seen.host)
        ended = Resource(_id_of(series, seen.index), seen.resource_type, seen.chat_session_id, seen.index)
        self._gone.append(_Gone.from_resource(ended, _ENDED.format(ended.resource_id)))

    def record_lost(self, owner: str, lost_by: str) -> None:
        """Record that a module's resources end without being closed, before they are released.

        One that can be reopened is replaced, on the same host or in the same pool, by the first resource that a
        call creates for the session; the event of its end has `lostBy`.
        """
        for entry in self._entries.values():
            if entry.owner == owner:
                self._record_lost(entry, lost_by)

    def _record_lost(self, entry: Entry, lost_by: str) -> None:
        resource = entry.resource
        if resource.reopening is None or entry.lost_by:
            return
        entry.lost_by = lost_by[:REASON_CHARS]
        host = pool_of(host_in(entry.owner))
        series = (resource.session_id, resource.resource_type)
        self._ended.setdefault(series, {})[resource.index] = _Ended(resource.last_url, entry.lost_by, host)

    def forget_ended(self, resource_type: str, session_id: str, index: int) -> None:
        """Prevent any replacement of this resource."""
        self._ended.get((session_id, resource_type), {}).pop(index, None)

    def replaced_by(self, resource_id: str) -> str | None:
        """Return the id of the ended resource that this one replaces; None: it replaces none."""
        entry = self._entries.get(resource_id)
        return None if entry is None else entry.replaces

    def _pop_ended(self, series: tuple[str, str], owner: str) -> tuple[int | None, _Ended]:
        """Return the first that ended on the owner's host, and its index, once: later resources start without its
        data."""
        host = pool_of(host_in(owner))
        for each, entry in self._planned.get(series, {}).items():
            if pool_of(each) == host:
                entry.resource.last_url = None
                entry.resource.lost_by = ""
                entry.replaces = None
        ended = self._ended.pop(series, {})
        fitting = {index: each for index, each in ended.items() if each.host == host}
        if len(fitting) < len(ended):
            self._ended[series] = {index: each for index, each in ended.items() if index not in fitting}
        if not fitting:
            return None, _Ended(None)
        index = min(fitting)
        return index, fitting[index]

    def list(
        self,
        *,
        owner: str | None = None,
        session_id: str | None = None,
        resource_type: str | None = None,
        host: str | None = None,
    ) -> list[Resource]:
        """Return resources in creation order, filtered; `host`: of modules of this host, empty for the server's."""
        return [
            entry.resource
            for entry in self._entries.values()
            if owner in (None, entry.owner)
            and session_id in (None, entry.resource.session_id)
            and resource_type in (None, entry.resource.resource_type)
            and (host is None or host_in(entry.owner) == host)
        ]

    def by_key(self, resource_type: str, key: str, value: str, host: str = "") -> Resource:
        """Return the resource with this key.

        Args:
            host: The preferred host if several have one; empty: the server.
        Raises:
            ToolError: `resource_not_found`.
        """
        found: Entry | None = None
        for entry in self._entries.values():
            if entry.resource.resource_type == resource_type and entry.resource.keys.get(key) == value:
                if host_in(entry.owner) == host:
                    return entry.resource
                found = found or entry
        if found is None:
            raise not_found(value)
        return found.resource

    def why_gone(self, resource_type: str, key: str | None, value: str, session_id: str | None) -> str:
        """Return the reason that a module gave when it released the resource with this id or key; empty: none.

        Args:
            session_id: Only a resource of this session; None: of any.
        """
        for gone in reversed(self._gone):
            if gone.resource_type == resource_type and (key, value) in gone.names:
                return gone.reason if session_id in (None, gone.session_id) else ""
        return ""

    def update(self, resource_id: str, change: ResourceUpdate, *, owner: str | None = None) -> Resource:
        """Change a resource, and publish that.

        Raises:
            ToolError: `resource_not_found`.
            ValueError: The icon or the arguments are too large.
        """
        resource = self._find_entry(resource_id, owner).resource
        for each in fields(change):
            value = getattr(change, each.name)
            if value is not None:
                _set_property(resource, each.name, value)
        self._publish_state(resource)
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
        self.publish_event(self._find_entry(resource_id, owner).resource, event, data)

    def publish_event(self, resource: Resource, event: ResourceEvent, data: Mapping[str, Any]) -> None:
        """Publish an event of a resource that may have ended; images are not stored for clients that resume."""
        fields = {**data, "resourceId": resource.resource_id}
        name = f"resource.{event}"
        self._events.publish(name, fields, session_id=resource.session_id, kept=name not in NOT_KEPT)

    @asynccontextmanager
    async def lock_resource(self, resource_id: str) -> AsyncIterator[Resource]:
        """Wait for the resource's queue slot and lock it.

        Raises:
            ToolError: `resource_busy`: the queue is full; `resource_not_found`: it ended meanwhile.
        """
        entry = self._find_entry(resource_id)
        await acquire_lock(entry)
        try:
            if self._entries.get(resource_id) is not entry:
                raise not_found(resource_id)
            entry.resource.last_used_at_ms = _now_ms()
            yield entry.resource
        finally:
            release_lock(entry)

    async def release(self, resource_id: str, owner: str | None = None, reason: str = "", *, lost_by: str = "") -> None:
        """End a resource: waiting calls end with `resource_not_found`. Unknown ids are ignored.

        Args:
            reason: See `agentcore.api.resource.Resources`.
            lost_by: Why it ended without being closed; see `record_lost`.
        """
        entry = self._entries.get(resource_id)
        if entry is None or owner not in (None, entry.owner):
            return
        if lost_by:
            self._record_lost(entry, lost_by)
        del self._entries[resource_id]
        if reason:
            self._gone.append(_Gone.from_resource(entry.resource, reason))
        entry.resource.status = "closed"
        wake_all(entry, reason)
        if entry.on_release is not None:
            try:
                await run_contained(_call_on_release(entry), HOOK_SECONDS, f"release:{resource_id}", entry.owner)
            except asyncio.CancelledError:
                raise
            except BaseException as exc:  # noqa: BLE001 - the border between host and module
                log_failure(log, "resource_release_failed", exc, resource_id=resource_id, module=entry.owner)
        self._publish_state(entry.resource, entry.lost_by)

    async def release_owned(self, owner: str, reason: str = "", *, lost_by: str) -> None:
        """End all resources of a module without closing them, and remove its planned ones.

        Args:
            reason: As of `release`.
            lost_by: Why they ended, as a clause: `its host 'laptop' was lost`.
        """
        # all of them before the first has ended: resources that a call creates from now on replace these
        self.record_lost(owner, lost_by)
        for series, planned in list(self._planned.items()):
            left = {host: entry for host, entry in planned.items() if entry.owner != owner}
            if left:
                self._planned[series] = left
            else:
                del self._planned[series]
        for resource in self.list(owner=owner):
            await self.release(resource.resource_id, reason=reason)

    def _free_index(self, series: tuple[str, str], former_id: str | None) -> int | None:
        """Return the index in an id that was used before and is free now; None: it is not such an id."""
        if former_id is None or former_id in self._entries or self._find_planned(former_id) is not None:
            return None
        resource_type, index = _parts_of(former_id, series[0])
        if index is None or resource_type != series[1]:
            return None
        return index if index < self.indexes.next_index(series) else None

    def _make_entry(self, owner: str, resource_type: str, session_id: str, index: int | None = None) -> Entry:
        series = (session_id, resource_type)
        self._check_room(owner, series)
        index = self.indexes.allocate_index(series) if index is None else index
        now = _now_ms()
        resource = Resource(
            _id_of(series, index),
            resource_type,
            session_id,
            index,
            created_at_ms=now,
            last_used_at_ms=now,
        )
        return Entry(resource, owner)

    def _check_room(self, owner: str, series: tuple[str, str]) -> None:
        """Check that the owner's host may have another of a series; resources of other hosts are not counted.

        Raises:
            ToolError: `too_many_resources`.
        """
        session_id, resource_type = series
        host = host_in(owner)
        living = len(self.list(session_id=session_id, resource_type=resource_type, host=host))
        if living >= RESOURCES_PER_SESSION:
            raise ToolError(
                "too_many_resources",
                f"session {session_id!r} has {living} resources of type {resource_type!r}"
                f"{f' on {host_title(host)}' if host else ''}; close some first",
                limit=RESOURCES_PER_SESSION,
            )

    def _add_entry(self, entry: Entry) -> None:
        resource = entry.resource
        self._entries[resource.resource_id] = entry
        self.indexes.record_used((resource.session_id, resource.resource_type), resource.index)
        self._publish_state(resource)

    def _find_entry(self, resource_id: str, owner: str | None = None) -> Entry:
        entry = self._entries.get(resource_id)
        if entry is None or owner not in (None, entry.owner):
            raise not_found(resource_id)
        return entry

    def _publish_state(self, resource: Resource, lost_by: str = "") -> None:
        data = self.to_json(resource) | ({"lostBy": lost_by} if lost_by else {})
        self._events.publish("resource.stateChanged", data, session_id=resource.session_id)


def _set_property(resource: Resource, name: str, value: Any) -> None:
    if name == "icon":
        _set_icon(resource, value)
    elif name == "reopening":
        _set_reopening(resource, value)
    elif name == "keys":
        resource.keys.update(value)
    else:
        setattr(resource, name, valid_text(value) if isinstance(value, str) else value)


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


async def _call_on_release(entry: Entry) -> None:
    if entry.on_release is not None:
        await entry.on_release(entry.resource)


def _id_of(series: tuple[str, str], index: int) -> str:
    session_id, resource_type = series
    return f"{resource_type}_{session_id}_{index}"


def _parts_of(resource_id: str, session_id: str) -> tuple[str, int | None]:
    """The type and the index in an id; no index: it is none of this session."""
    found = re.fullmatch(rf"(.+)_{re.escape(session_id)}_(0|[1-9][0-9]{{0,8}})", resource_id)
    return (found[1], int(found[2])) if found is not None else ("", None)


def _problem_of(service: Resource) -> str:
    """Return why a service cannot be reached; empty if it can."""
    return (service.title or "it has failed") if service.status == "failed" else ""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


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
