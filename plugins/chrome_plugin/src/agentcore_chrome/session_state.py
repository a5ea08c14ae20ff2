"""Stored log-ins of chat sessions, so that a session's next page has them, wherever it is opened."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import structlog

from agentcore.api import Storage, ToolError
from agentcore_chrome.failures import is_closed
from agentcore_chrome.lost_failures import end_within

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext

log = structlog.get_logger(__name__)

SAVE_SECONDS = 20.0
"""Interval of saving while a session has pages."""

_SOON_SECONDS = 1.0
_SAVING_SECONDS = 20.0
_LAST_SECONDS = 4.0
_TOO_LARGE_SECONDS = 300.0
"""Pause after a state that was too large, because reading it takes up the event loop."""

Run = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class SessionState:
    """Cookies, local storage and IndexedDB of one session.

    Attributes:
        turn: Locked while the state is loaded or saved.
        is_over: True once the session is deleted: nothing is stored any more.
    """

    def __init__(self, session_id: str, storage: Storage, tell_refused: Callable[[str], None]) -> None:
        self._name = f"storage-state:{session_id}"
        self._session_id = session_id
        self._storage = storage
        self._tell_refused = tell_refused
        self._saved = b""
        self._not_before = 0.0
        self.turn = asyncio.Lock()
        self.is_over = False

    async def load(self) -> dict[str, Any] | None:
        """Return the stored state; None: there is none, or it cannot be read.

        Raises:
            ToolError: `storage_failed`: it is unknown what is stored.
        """
        async with self.turn:
            data = await self._storage.get(self._name)
            try:
                found = None if data is None else await asyncio.to_thread(json.loads, data)
            except ValueError:
                log.warning("session_state_broken", session_id=self._session_id)
                return None
            self._saved = data or b""
            return found if isinstance(found, dict) else None

    async def save(self, context: "BrowserContext") -> None:
        """Store the context's state if it has changed; the caller has locked `turn`.

        Nothing is raised: failures are logged, and the next save tries again.
        """
        if self.is_over or asyncio.get_running_loop().time() < self._not_before:
            return
        try:
            async with asyncio.timeout(_SAVING_SECONDS):
                state = await context.storage_state(indexed_db=True)
                data = (await asyncio.to_thread(json.dumps, state)).encode()
            if data != self._saved:
                await self._storage.put(self._name, data)
                self._saved = data
        except ToolError as exc:
            log.warning("session_state_not_kept", session_id=self._session_id, reason=exc.message)
            if exc.type == "storage_too_large":
                self._not_before = asyncio.get_running_loop().time() + _TOO_LARGE_SECONDS
                self._tell_refused(exc.message)
        except Exception as exc:  # noqa: BLE001 - a page that hangs does not answer; it is tried again
            log.info("session_state_not_kept", session_id=self._session_id, reason=type(exc).__name__)

    async def delete(self) -> None:
        """Delete the stored state, and never store it again."""
        self.is_over = True  # before locking, so that a save that waits for the lock stores nothing
        async with self.turn:
            await self._storage.delete(self._name)


class SessionStates:
    """The states of all sessions.

    Args:
        tell_refused: Called with the reason when a state is too large to be stored.
    """

    def __init__(self, storage: Storage, tell_refused: Callable[[str], None]) -> None:
        self._storage = storage
        self._tell_refused = tell_refused
        self._states: WeakValueDictionary[str, SessionState] = WeakValueDictionary()

    def get_state(self, session_id: str) -> SessionState:
        """Return the state of a session."""
        found = self._states.get(session_id)
        if found is None:
            found = self._states[session_id] = SessionState(session_id, self._storage, self._tell_refused)
        return found

    async def delete_state(self, session_id: str) -> None:
        """Delete the state of a session that was deleted."""
        state = self.get_state(session_id)
        self._states.pop(session_id, None)
        try:
            await state.delete()
        except ToolError as exc:
            log.warning("session_state_not_deleted", session_id=session_id, reason=exc.message)


class _Saving:
    """Saves one context until it is closed: soon after activity in it, and at regular intervals."""

    def __init__(self, context: "BrowserContext", state: SessionState, run: Run) -> None:
        self._context = context
        self._state = state
        self.news = asyncio.Event()
        self._task = run(self._save_periodically())

    async def close(self) -> None:
        """Save the context a last time and stop."""
        await end_within(self._save_last(), _LAST_SECONDS)
        self._task.cancel()

    async def _save_last(self) -> None:
        async with self._state.turn:
            self._task.cancel()  # it is between two saves, or it would have locked `turn`
            await self._state.save(self._context)

    async def _save_periodically(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(SAVE_SECONDS):
                    await self.news.wait()
                    await asyncio.sleep(_SOON_SECONDS)  # a page that has just loaded will change more
            self.news.clear()
            async with self._state.turn:
                await self._state.save(self._context)


class SavedContexts:
    """The contexts of one browser's sessions, created with the stored log-ins and saved regularly.

    Args:
        run: Runs work in the background, until the browser ends.
    """

    def __init__(self, states: SessionStates, run: Run) -> None:
        self._states = states
        self._run = run
        self._saving: dict[str, _Saving] = {}
        self._brought: set[str] = set()

    async def create_context(self, browser: "Browser", options: Mapping[str, Any], session_id: str) -> "BrowserContext":
        """Create a context for a session, with its stored log-ins.

        Raises:
            ToolError: `storage_failed`: a page without the log-ins would overwrite them.
        """
        state = self._states.get_state(session_id)
        kept = await state.load()
        try:
            context = await browser.new_context(**options, storage_state=kept)  # type: ignore[arg-type]  # as it was given
        except Exception as exc:
            if kept is None or is_closed(exc):
                raise
            log.warning("session_state_broken", session_id=session_id, reason=str(exc))
            kept, context = None, await browser.new_context(**options)
        if kept is not None:
            self._brought.add(session_id)
        self._saving[session_id] = _Saving(context, state, self._run)
        return context

    def was_restored(self, session_id: str) -> bool:
        """True if a session's context was created with stored log-ins; the next call returns False."""
        was = session_id in self._brought
        self._brought.discard(session_id)
        return was

    def schedule_save(self, session_id: str) -> None:
        """Save a session's context soon, because something happened in its pages."""
        if (saving := self._saving.get(session_id)) is not None:
            saving.news.set()

    async def close(self, session_id: str) -> None:
        """Save a session's context a last time."""
        self._brought.discard(session_id)
        if (saving := self._saving.pop(session_id, None)) is not None:
            await saving.close()

    async def close_all(self) -> None:
        """Save all contexts a last time."""
        await asyncio.gather(*(self.close(session_id) for session_id in list(self._saving)))
