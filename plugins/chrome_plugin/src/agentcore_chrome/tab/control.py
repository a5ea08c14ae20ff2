"""Control of a page: by calls, one at a time, or by a user who has taken it over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agentcore_chrome.call_limit import not_counted
from agentcore_chrome.tab.changes import is_other_page

Describe = Callable[[], Awaitable[str]]

_TAKE_SECONDS = 10.0


class Control:
    """The lock of one page: calls wait while a user drives, and the next call reports what the user changed.

    Attributes:
        holder: The viewer id of the user who drives; None: no user drives.
        changed: Called when a user takes or releases control.
    """

    def __init__(self, describe: Describe, changed: Callable[[], None]) -> None:
        self._describe = describe
        self.changed = changed
        self.holder: str | None = None
        self._free = asyncio.Event()
        self._free.set()
        self._turn = asyncio.Lock()
        self._before = ""
        self._report: str | None = None

    @asynccontextmanager
    async def lock_for_call(self) -> AsyncIterator[None]:
        """Lock the page for one call: after the calls before it, and not while a user drives."""
        while True:
            if not self._free.is_set():
                with not_counted():
                    await self._free.wait()
            async with self._turn:
                if self._free.is_set():
                    yield
                    return

    async def take_control(self, viewer: str) -> bool:
        """Give a user control once the running call ends, or after `_TAKE_SECONDS`; True if they have it."""
        if self.holder is not None:
            return self.holder == viewer
        self.holder = viewer
        self._free.clear()  # before waiting for the lock, so that no further call starts
        try:
            async with asyncio.timeout(_TAKE_SECONDS):
                async with self._turn:
                    self._before = await self._describe()
        except TimeoutError:
            self._before = ""
        self.changed()
        return True

    async def release_control(self, viewer: str) -> None:
        """End a user's control and store what changed for the next call; other viewers are ignored."""
        if self.holder != viewer:
            return
        try:
            after = await self._describe()
            self._report = _describe_difference(self._before, after)
        finally:
            self.holder = None
            self._free.set()
            self.changed()

    def pop_report(self) -> str | None:
        """Return, once, what a user changed since the last call."""
        report = self._report
        self._report = None
        return report


def _describe_difference(before: str, after: str) -> str:
    """Return the removed and added lines in order, shortened."""
    old = before.splitlines()
    new = after.splitlines()
    if is_other_page(old[0] if old else "", new[0] if new else ""):
        old = old[:_HEAD]  # address and title are enough for the page that was left
    gone = set(old) - set(new)
    come = set(new) - set(before.splitlines())
    lines = [f"- {line}" for line in old if line in gone][:_LINES] + [f"+ {line}" for line in new if line in come][
        :_LINES
    ]
    return "\n".join(lines) or "nothing that can be seen"


_LINES = 60
_HEAD = 2
