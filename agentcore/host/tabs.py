"""The strip of tabs: one for each living resource that was not put out of sight, in an order that a person chose."""

import asyncio
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from agentcore.api.errors import ToolError
from agentcore.host.events import Event, EventBus
from agentcore.host.resources import ResourceRegistry
from agentcore.store.tab_store import TabRow, TabStore

log = structlog.get_logger(__name__)

_WORKSPACE = "default"


@dataclass(slots=True, eq=False)
class Tab:
    """An entry of the strip: it names a resource and how that is shown, and does nothing to it.

    Args:
        tab_id: Random.
        resource_id: What it stands for.
        title: The name that a person gave it; empty: the resource's own title is shown.
        is_pinned: It stands before those that are not, and closing it leaves the resource alone.
        created_at_ms: Milliseconds since 1970.
        last_active_at_ms: When it was last brought to the front, in milliseconds since 1970.
    """

    tab_id: str
    resource_id: str
    title: str = ""
    is_pinned: bool = False
    created_at_ms: int = 0
    last_active_at_ms: int = 0

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
        }


class Tabs:
    """All tabs. A resource that is made gets one at the end; one that goes takes its tab along.

    What a caller changed is committed when the method returns; `tabs.changed` tells that something did.
    """

    def __init__(self, events: EventBus, resources: ResourceRegistry, store: TabStore) -> None:
        self._events, self._resources, self._store = events, resources, store
        self._tabs: list[Tab] = []
        self._known: set[str] = set()
        self._unsaved = asyncio.Event()

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Bring back the tabs of the last run, and keep what becomes of them until the end."""
        self._tabs = [_read(row) for row in await self._store.load()]
        stop_listening = self._events.subscribe("resource.stateChanged", self._follow)
        saving = asyncio.create_task(self._save_what_follows(), name="tabs:save")
        try:
            yield
        finally:
            stop_listening()
            saving.cancel()
            await asyncio.wait((saving,))

    async def drop_dead(self) -> None:
        """Let go of tabs whose resources did not come back with the modules."""
        living = {resource.resource_id for resource in self._resources.list()}
        if any(tab.resource_id not in living for tab in self._tabs):
            self._tabs = [tab for tab in self._tabs if tab.resource_id in living]
            await self._changed()

    def in_order(self) -> list[Tab]:
        """The tabs from left to right; pinned ones come first."""
        return list(self._tabs)

    async def show(self, resource_id: str) -> Tab:
        """The resource's tab, brought to the front; made at the end if it has none.

        Raises:
            ToolError: `resource_not_found`.
        """
        resource = self._resources.get(resource_id)
        tab = self._of(resource.resource_id)
        is_new = tab is None
        if tab is None:
            tab = self._add(resource.resource_id)
        tab.last_active_at_ms = _now_ms()
        if is_new:
            await self._changed()
        else:
            await self._store.save(self._rows())  # what is at the front in one page concerns no other
        return tab

    async def change(
        self, tab_id: str, *, is_pinned: bool | None = None, title: str | None = None, before: str | None = None
    ) -> Tab:
        """Change what is given.

        Args:
            is_pinned: Pinned tabs stand first; one that is pinned now comes last of them, one that is not any more
                first of the others.
            title: Another name; empty: the resource's own.
            before: The tab to stand before, as far as pinned tabs stay before the others; empty: at the end.
        Raises:
            ToolError: `tab_not_found`.
        """
        tab = self._find(tab_id)
        neighbour = self._find(before) if before else None
        if title is not None:
            tab.title = title
        if is_pinned is not None and is_pinned != tab.is_pinned:
            tab.is_pinned = is_pinned
            self._move(tab, self._count_pinned() - is_pinned)
        if before is not None and neighbour is not tab:
            self._move(tab, self._place_before(tab, neighbour))
        await self._changed()
        return tab

    async def close(self, tab_id: str) -> bool:
        """Take a tab away, and end its resource unless the tab is pinned or the resource keeps running.

        Returns:
            Whether the resource was ended.
        Raises:
            ToolError: `tab_not_found`.
        """
        tab = self._find(tab_id)
        resource = self._resources.get(tab.resource_id)
        is_over = not (tab.is_pinned or resource.keep_running)
        self._tabs.remove(tab)
        await self._changed()
        if is_over:
            await self._resources.release(resource.resource_id)
        return is_over

    async def end_session(self, session_id: str) -> None:
        """End what a session has open, except for what is pinned or keeps running."""
        for resource in self._resources.list(session_id=session_id):
            tab = self._of(resource.resource_id)
            if tab is not None and not (tab.is_pinned or resource.keep_running):
                await self._resources.release(resource.resource_id)

    # -- inside ------------------------------------------------------------------------------------------------

    def _of(self, resource_id: str) -> Tab | None:
        return next((tab for tab in self._tabs if tab.resource_id == resource_id), None)

    def _find(self, tab_id: str) -> Tab:
        for tab in self._tabs:
            if tab.tab_id == tab_id:
                return tab
        raise ToolError("tab_not_found", f"there is no tab {tab_id!r}; it was closed", tab_id=tab_id)

    def _add(self, resource_id: str) -> Tab:
        now = _now_ms()
        tab = Tab(f"tab_{secrets.token_hex(8)}", resource_id, created_at_ms=now, last_active_at_ms=now)
        self._tabs.append(tab)
        return tab

    def _count_pinned(self) -> int:
        return sum(tab.is_pinned for tab in self._tabs)

    def _move(self, tab: Tab, place: int) -> None:
        self._tabs.remove(tab)
        self._tabs.insert(place, tab)

    def _place_before(self, tab: Tab, neighbour: Tab | None) -> int:
        others = [other for other in self._tabs if other is not tab]
        wanted = others.index(neighbour) if neighbour is not None else len(others)
        pinned = sum(other.is_pinned for other in others)
        return min(wanted, pinned) if tab.is_pinned else max(wanted, pinned)

    def _follow(self, event: Event) -> None:
        """Give a new resource its tab, and take away the tab of one that went."""
        resource_id, is_gone = event.data["resourceId"], event.data["status"] == "closed"
        is_new = resource_id not in self._known
        tab = self._of(resource_id)
        if is_gone:
            self._known.discard(resource_id)
        else:
            self._known.add(resource_id)
        if is_gone and tab is not None:
            self._tabs.remove(tab)
        elif is_new and not is_gone and tab is None:
            self._add(resource_id)
        else:
            return
        self._unsaved.set()
        self._events.publish("tabs.changed", {})

    async def _changed(self) -> None:
        self._events.publish("tabs.changed", {})
        await self._store.save(self._rows())

    async def _save_what_follows(self) -> None:
        while True:
            await self._unsaved.wait()
            self._unsaved.clear()
            try:
                await self._store.save(self._rows())
            except sqlite3.Error as exc:
                # the next change tries again, and the strip in memory is right meanwhile
                log.warning("tabs_not_saved", error=str(exc))

    def _rows(self) -> list[TabRow]:
        return [
            TabRow(
                tab.tab_id,
                _WORKSPACE,
                tab.resource_id,
                tab.title,
                tab.is_pinned,
                tab.created_at_ms,
                tab.last_active_at_ms,
            )
            for tab in self._tabs
        ]


def _read(row: TabRow) -> Tab:
    return Tab(row.tab_id, row.resource_id, row.title, row.is_pinned, row.created_at_ms, row.last_active_at_ms)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
