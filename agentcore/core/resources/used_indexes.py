"""Which indexes of resources were used, by session and type: an id is used for one resource only.

They are on disk before a call that created a resource acts on it or ends, so that they survive any end of the process.
"""

import asyncio
import sqlite3
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)

Series = tuple[str, str]
"""A session and a type of resource."""


class IndexStore(Protocol):
    """Keeps the next index of each series."""

    async def load(self) -> dict[Series, int]:
        """Return all of them."""
        ...

    async def save(self, next_indexes: dict[Series, int]) -> None:
        """Store these beside the others; one that is lower than the stored one changes nothing."""
        ...


class UsedIndexes:
    """The next index of each series. A resource that is only planned may get its index again after a restart.

    Args:
        store: Stores them; None: they end with the process.
    """

    def __init__(self, store: IndexStore | None = None) -> None:
        self._store = store
        self._next: dict[Series, int] = {}
        self._unsaved: dict[Series, int] = {}
        self._saving: asyncio.Task[None] | None = None

    async def load_stored(self) -> None:
        """Load what earlier processes used."""
        if self._store is not None:
            self._next = await self._store.load()

    def next_index(self, series: Series) -> int:
        """The index that the next resource of a series gets."""
        return self._next.get(series, 0)

    def allocate_index(self, series: Series) -> int:
        """Return the next index of a series, which is not returned again in this process."""
        index = self.next_index(series)
        self._next[series] = index + 1
        return index

    def skip_to(self, series: Series, index: int) -> None:
        """Mark all indexes below this one as used."""
        self._next[series] = max(self.next_index(series), index)

    def record_used(self, series: Series, index: int) -> None:
        """Mark the index of a resource as used, and save that at once."""
        self.skip_to(series, index + 1)
        if self._store is None:
            return
        self._unsaved[series] = max(self._unsaved.get(series, 0), index + 1)
        if self._saving is None or self._saving.done():
            # in no TaskGroup: whatever makes a resource starts it; `save` waits for it
            self._saving = asyncio.get_running_loop().create_task(self._save_all(), name="resources:indexes")

    async def wait_until_saved(self) -> None:
        """Wait until the disk has all that was noted; a write that fails is logged and repeated with the next."""
        while self._saving is not None and not self._saving.done():
            await asyncio.wait({self._saving})

    async def _save_all(self) -> None:
        assert self._store is not None  # noqa: S101 - `note` looked
        while self._unsaved:
            saved = dict(self._unsaved)
            try:
                await self._store.save(saved)
            except sqlite3.Error as exc:
                log.warning("resource_indexes_not_saved", error=str(exc))
                return
            self._unsaved = {series: index for series, index in self._unsaved.items() if saved.get(series) != index}
