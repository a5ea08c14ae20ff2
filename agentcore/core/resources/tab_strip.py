"""The tab strip: one tab for each existing resource that was not hidden, in an order that the user chose.

A resource that ends without being closed – with the server, its host or its module – leaves a closed tab,
if its module declared how to open another one. A replacement gets that tab.
"""

import asyncio
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog
from pydantic import ValidationError

from agentcore.api import Image, Resource
from agentcore.core.declarations.hosted_names import pool_of
from agentcore.core.events import Event, EventBus
from agentcore.core.resources.last_seen import LastSeen
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import CLOSED_TABS
from agentcore.store.tab_store import IconRow, TabRow, TabStore

log = structlog.get_logger(__name__)

_WORKSPACE = "default"
_SAVE_EVERY_SECONDS = 0.5


@dataclass(slots=True, eq=False)
class Tab:
    """An entry of the strip: it names a resource and how that is shown, without affecting it.

    Args:
        tab_id: Random.
        title: The name that the user gave it; empty: the resource's own title is shown.
        is_pinned: True if it is placed before those that are not, and closing it does not end the resource.
        last_active_at_ms: When it was last activated, in milliseconds since 1970.
        last_seen: The last state of its resource; None: nothing can open a replacement.
        is_closed: True if its resource ended without being closed.
    """

    tab_id: str
    resource_id: str
    title: str = ""
    is_pinned: bool = False
    created_at_ms: int = 0
    last_active_at_ms: int = 0
    last_seen: LastSeen | None = None
    is_closed: bool = False

    def to_json(self) -> dict[str, Any]:
        """The tab on the wire."""
        return {
            "tabId": self.tab_id,
            "workspaceId": _WORKSPACE,
            "resourceId": self.resource_id,
            "title": self.title or None,
            "pinned": self.is_pinned,
            "createdAt": self.created_at_ms,
            "lastActiveAt": self.last_active_at_ms,
            "closed": self.last_seen.model_dump(by_alias=True) if self.is_closed and self.last_seen else None,
        }


class Tabs:
    """All tabs. A new resource gets one at the end; a resource that ends removes its tab.

    Changes by a caller are committed when the method returns; `tabs.changed` announces every change.
    """

    def __init__(self, events: EventBus, resources: ResourceRegistry, store: TabStore) -> None:
        self._events = events
        self._resources = resources
        self._store = store
        self._tabs: list[Tab] = []
        self._known: set[str] = set()
        self._icons: dict[str, IconRow] = {}
        self._unsaved = asyncio.Event()
        self._is_urgent = asyncio.Event()
        self._stop_listening: Callable[[], None] = _do_nothing

    @asynccontextmanager
    async def persist_tabs(self) -> AsyncIterator[None]:
        """Restore the tabs of the last run, and store changes until the end."""
        rows, icons = await self._store.load()
        read = [_tab_from_row(row) for row in rows]
        self._tabs = [tab for tab in read if tab is not None]
        self._icons = {icon.icon_id: icon for icon in icons}
        self._stop_listening = self._events.subscribe("resource.stateChanged", self._on_resource_changed)
        # not in a TaskGroup, which would wrap what the body raises: this function ends it, and waits
        saving = asyncio.create_task(self._save_what_follows(), name="tabs:save")
        try:
            yield
        finally:
            self.stop_following()
            saving.cancel()
            await asyncio.wait((saving,))
            if self._unsaved.is_set():
                await self._save_now()

    def stop_following(self) -> None:
        """Leave the strip as it is now: what ends from here on ends because the server does. May be called twice."""
        self._stop_listening()
        self._stop_listening = _do_nothing

    async def close_dead(self, *, may_come_back: bool = False) -> None:
        """Close tabs whose resources did not come back with the modules; those last used stay, to be opened again.

        Args:
            may_come_back: True if foreign machines may still report some: tabs that cannot be reopened are then
                hidden, and stay until this is called once more.
        """
        living = {resource.resource_id for resource in self._resources.list()}
        dead = [tab for tab in self._tabs if tab.resource_id not in living]
        if not dead:
            return
        openable = [tab for tab in dead if tab.last_seen is not None]
        openable.sort(key=lambda tab: tab.last_active_at_ms, reverse=True)
        kept = openable[:CLOSED_TABS]
        hidden = [tab for tab in dead if tab.last_seen is None] if may_come_back else []
        self._tabs = [tab for tab in self._tabs if tab.resource_id in living or tab in kept or tab in hidden]
        for tab in (*kept, *hidden):
            tab.is_closed = True
            if (seen := tab.last_seen) is not None:
                self._resources.record_ended(seen)
        await self._publish_and_save()

    def list_tabs(self) -> list[Tab]:
        """The tabs from left to right; pinned ones come first."""
        return list(self._tabs)

    def find_icon(self, tab_id: str, icon_id: str = "") -> Image:
        """The icon that the resource of a tab had last.

        Args:
            icon_id: The icon that it has to be; empty for any.
        Raises:
            ToolError: `tab_not_found`, `icon_not_found`.
        """
        tab = self._find_tab(tab_id)
        icon = self._icons.get(tab.last_seen.icon or "") if tab.last_seen is not None else None
        if icon is None or icon_id not in ("", icon.icon_id):
            message = f"the resource of tab {tab_id!r} had no icon {icon_id}".rstrip()
            raise ToolError("icon_not_found", message, tab_id=tab_id)
        return Image(icon.data, icon.mime)

    async def show_resource(self, resource_id: str, *, in_place_of: str | None = None) -> Tab:
        """Activate the resource's tab; create one at the end if it has none.

        Args:
            resource_id: An existing resource.
            in_place_of: A closed tab that becomes the resource's, with its position and its name.
        Raises:
            ToolError: `resource_not_found`, `tab_not_found`; `tab_not_closed`.
        """
        resource = self._resources.get(resource_id)
        if in_place_of is not None:
            return await self._reopen_as(resource, self._find_tab(in_place_of))
        tab = self._find_by_resource(resource.resource_id)
        is_new = tab is None
        if tab is None:
            tab = self._add_tab(resource.resource_id)
        tab.last_active_at_ms = _now_ms()
        if is_new:
            await self._publish_and_save()
        else:
            await self._save()  # what is at the front in one page concerns no other
        return tab

    async def change_tab(
        self, tab_id: str, *, is_pinned: bool | None = None, title: str | None = None, before: str | None = None
    ) -> Tab:
        """Change the given properties.

        Args:
            is_pinned: Pinned tabs are first; a newly pinned one becomes the last of them, an unpinned one the
                first of the others.
            title: Another name; empty: the resource's own.
            before: The tab to move it before, as far as pinned tabs stay before the others; empty: at the end.
        Raises:
            ToolError: `tab_not_found`.
        """
        tab = self._find_tab(tab_id)
        neighbour = self._find_tab(before) if before else None
        if title is not None:
            tab.title = title
        if is_pinned is not None and is_pinned != tab.is_pinned:
            tab.is_pinned = is_pinned
            self._move_tab(tab, self._count_pinned() - is_pinned)
        if before is not None and neighbour is not tab:
            self._move_tab(tab, self._index_before(tab, neighbour))
        await self._publish_and_save()
        return tab

    async def close_tab(self, tab_id: str) -> bool:
        """Remove a tab, and end its resource unless the tab is pinned or the resource keeps running.

        Returns:
            True if the resource was ended.
        Raises:
            ToolError: `tab_not_found`.
        """
        tab = self._find_tab(tab_id)
        if tab.is_closed:
            self._tabs.remove(tab)
            if (seen := tab.last_seen) is not None:
                self._resources.forget_ended(seen.resource_type, seen.chat_session_id, seen.index)
            await self._publish_and_save()
            return True
        resource = self._resources.get(tab.resource_id)
        is_over = not (tab.is_pinned or resource.keep_running)
        self._tabs.remove(tab)
        await self._publish_and_save()
        if is_over:
            await self._resources.release(resource.resource_id)
        return is_over

    async def end_session(self, session_id: str) -> None:
        """End the resources of a session, except those that are pinned or keep running, and remove its closed tabs."""
        closed = [tab for tab in self._tabs if tab.is_closed and not tab.is_pinned and _session_id(tab) == session_id]
        if closed:
            self._tabs = [tab for tab in self._tabs if tab not in closed]
            await self._publish_and_save()
        for resource in self._resources.list(session_id=session_id):
            tab = self._find_by_resource(resource.resource_id)
            # hidden resources are not reachable any more, either
            if not (resource.keep_running or (tab is not None and tab.is_pinned)):
                await self._resources.release(resource.resource_id)

    # -- inside ------------------------------------------------------------------------------------------------

    def _find_by_resource(self, resource_id: str) -> Tab | None:
        return next((tab for tab in self._tabs if tab.resource_id == resource_id), None)

    def _find_tab(self, tab_id: str) -> Tab:
        for tab in self._tabs:
            if tab.tab_id == tab_id:
                return tab
        raise ToolError("tab_not_found", f"there is no tab {tab_id!r}; it was closed", tab_id=tab_id)

    def _add_tab(self, resource_id: str) -> Tab:
        now = _now_ms()
        tab = Tab(f"tab_{secrets.token_hex(8)}", resource_id, created_at_ms=now, last_active_at_ms=now)
        self._tabs.append(tab)
        return tab

    def _count_pinned(self) -> int:
        return sum(tab.is_pinned for tab in self._tabs)

    def _move_tab(self, tab: Tab, index: int) -> None:
        self._tabs.remove(tab)
        self._tabs.insert(index, tab)

    def _index_before(self, tab: Tab, neighbour: Tab | None) -> int:
        others = [other for other in self._tabs if other is not tab]
        requested = others.index(neighbour) if neighbour is not None else len(others)
        pinned = sum(other.is_pinned for other in others)
        return min(requested, pinned) if tab.is_pinned else max(requested, pinned)

    def _on_resource_changed(self, event: Event) -> None:
        """Create the tab of a new resource, and remove or close the tab of an ended one."""
        resource_id = event.data["resourceId"]
        if event.data["status"] == "closed":
            has_changed = self._follow_end(resource_id, event.data.get("lostBy", ""))
        else:
            has_changed = self._follow_life(resource_id)
        if has_changed:
            self._unsaved.set()
            self._is_urgent.set()
            self._events.publish("tabs.changed", {})

    def _follow_end(self, resource_id: str, lost_by: str) -> bool:
        """Update the tab of a resource that has ended; True if the strip has changed."""
        self._known.discard(resource_id)
        tab = self._find_by_resource(resource_id)
        if tab is None:
            return False
        if not lost_by or tab.last_seen is None:
            self._tabs.remove(tab)
            return True
        tab.is_closed = True
        tab.last_seen = tab.last_seen.model_copy(update={"lost_by": lost_by})
        self._drop_oldest_closed()
        return True

    def _follow_life(self, resource_id: str) -> bool:
        """Update the tab of an existing resource; True if the strip has changed."""
        resource = self._resources.get(resource_id)
        if resource.status == "finished":
            return self._follow_finish(resource_id)
        tab = self._find_by_resource(resource_id) or self._reuse_former_tab(resource)
        if tab is None and (resource_id in self._known or self._waits_for_former(resource)):
            return False
        self._known.add(resource_id)
        if tab is None:
            self._update_last_seen(self._add_tab(resource_id))
            return True
        was_closed = tab.is_closed
        if was_closed:
            tab.is_closed = False
            if (seen := tab.last_seen) is not None:
                self._resources.forget_ended(seen.resource_type, seen.chat_session_id, seen.index)
        could_return = tab.last_seen is not None
        if self._update_last_seen(tab):
            self._unsaved.set()
            if not could_return:
                self._is_urgent.set()
        return was_closed

    def _follow_finish(self, resource_id: str) -> bool:
        """Remove the tab of a resource that has finished, once: the user may show it again."""
        tab = self._find_by_resource(resource_id)
        was_known = resource_id in self._known
        self._known.discard(resource_id)
        if tab is None or tab.is_pinned or not was_known:
            return False
        self._tabs.remove(tab)
        return True

    def _reuse_former_tab(self, resource: Resource) -> Tab | None:
        """Give a resource the closed tab of the one that it replaces; None: there is none, or not yet."""
        former = self._find_former_tab(resource)
        if former is None or self._waits_for_former(resource):
            return None
        former.resource_id = resource.resource_id
        return former

    def _waits_for_former(self, resource: Resource) -> bool:
        """True if a resource that is to replace a closed tab may still fail to start, so that the tab stays closed."""
        is_begun = resource.status != "starting" or resource.reopening is not None
        return not is_begun and self._find_former_tab(resource) is not None

    def _find_former_tab(self, resource: Resource) -> Tab | None:
        """The closed tab of the one that a resource replaces."""
        tab = self._find_by_resource(self._resources.replaced_by(resource.resource_id) or "")
        return tab if tab is not None and tab.is_closed else None

    def _drop_oldest_closed(self) -> None:
        """Keep as many closed tabs as `close_dead` does; those of resources that nothing opens again count apart."""
        closed = [tab for tab in self._tabs if tab.is_closed and tab.last_seen is not None]
        closed.sort(key=lambda tab: tab.last_active_at_ms, reverse=True)
        for tab in closed[CLOSED_TABS:]:
            self._tabs.remove(tab)
            if (seen := tab.last_seen) is not None:
                self._resources.forget_ended(seen.resource_type, seen.chat_session_id, seen.index)

    def _update_last_seen(self, tab: Tab) -> bool:
        """Store the current state of a tab's resource; True if it differs from the previous one."""
        resource = self._resources.get(tab.resource_id)
        seen = LastSeen.from_resource(resource, pool_of(self._resources.host_of(tab.resource_id) or ""))
        if seen == tab.last_seen:
            return False
        tab.last_seen = seen
        if seen is not None and seen.icon is not None and resource.icon is not None:
            self._icons[seen.icon] = IconRow(seen.icon, resource.icon.mime, bytes(resource.icon.data))
        return True

    async def _reopen_as(self, resource: Resource, tab: Tab) -> Tab:
        if not tab.is_closed:
            message = f"tab {tab.tab_id!r} is not closed: only one whose resource ended takes another"
            raise ToolError("tab_not_closed", message, tab_id=tab.tab_id)
        self._tabs = [other for other in self._tabs if other.resource_id != resource.resource_id]
        tab.resource_id = resource.resource_id
        tab.is_closed = False
        tab.last_active_at_ms = _now_ms()
        self._update_last_seen(tab)
        await self._publish_and_save()
        return tab

    async def _publish_and_save(self) -> None:
        self._events.publish("tabs.changed", {})
        await self._save()

    async def _save(self) -> None:
        used = {tab.last_seen.icon for tab in self._tabs if tab.last_seen is not None}
        self._icons = {icon_id: icon for icon_id, icon in self._icons.items() if icon_id in used}
        await self._store.save(self._to_rows(), self._icons)

    async def _save_what_follows(self) -> None:
        while True:
            await self._unsaved.wait()
            self._is_urgent.clear()
            await self._save_now()
            # a page may change its title many times a second, but a new tab must survive a kill
            with suppress(TimeoutError):
                async with asyncio.timeout(_SAVE_EVERY_SECONDS):
                    await self._is_urgent.wait()

    async def _save_now(self) -> None:
        self._unsaved.clear()
        try:
            await self._save()
        except sqlite3.Error as exc:
            # the next change tries again, and the strip in memory is right meanwhile
            log.warning("tabs_not_saved", error=str(exc))
        except asyncio.CancelledError:
            self._unsaved.set()
            raise

    def _to_rows(self) -> list[TabRow]:
        return [
            TabRow(
                tab.tab_id,
                _WORKSPACE,
                tab.resource_id,
                tab.title,
                tab.is_pinned,
                tab.created_at_ms,
                tab.last_active_at_ms,
                tab.last_seen.model_dump_json(by_alias=True) if tab.last_seen is not None else None,
            )
            for tab in self._tabs
        ]


def _tab_from_row(row: TabRow) -> Tab | None:
    """Return the tab of a row; None: the row is damaged, and the others are kept."""
    try:
        seen = None if row.last_seen is None else LastSeen.model_validate_json(row.last_seen)
    except ValidationError as exc:
        log.warning("tab_unreadable", tab_id=row.tab_id, error=exc.errors()[0]["msg"])
        return None
    return Tab(row.tab_id, row.resource_id, row.title, row.is_pinned, row.created_at_ms, row.last_active_at_ms, seen)


def _session_id(tab: Tab) -> str:
    return tab.last_seen.chat_session_id if tab.last_seen is not None else ""


def _do_nothing() -> None:
    """Nothing is followed."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
