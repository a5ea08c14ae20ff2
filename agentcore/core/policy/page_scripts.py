"""Notice that scripts of a model have run in agentcore's own page, where they may act in the user's name."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from agentcore.api import Effect
from agentcore.store.state.private_file import read_private_file, write_private_file

_FILE = "page-scripts-ran"
_RUNS_NO_CODE: frozenset[Effect] = frozenset(("read", "write", "session"))


class PageScripts:
    """Remembers, also across restarts, that a script of a model has run in the page.

    A page stays open while the server restarts, and what a script left in the browser's storage or in another window
    survives a reload. So nothing but the user's removal of the module ends the doubt.

    Args:
        folder: The state folder.
        may_run: True while a module that runs such scripts is loaded.
        on_first: Called when the first script is about to run, to decide again on what was decided before.
    """

    def __init__(self, folder: Path, may_run: Callable[[], bool], on_first: Callable[[], None]) -> None:
        self._file = folder / _FILE
        self._may_run = may_run
        self._on_first = on_first
        self._lock = asyncio.Lock()
        self._is_stored = read_private_file(self._file, limit_bytes=1024) is not None
        self._have_run = self._is_stored

    @property
    def may_act(self) -> bool:
        """True if what the page sends may come from a script of a model."""
        return self._have_run and self._may_run()

    async def record_run(self, effects: frozenset[Effect]) -> None:
        """Note that a call of a module that runs scripts in the page begins, unless it can run no code.

        Returns when it is on the disk: a script must not run of which the next start would know nothing.

        Raises:
            OSError: It cannot be written.
            StateDirError: Likewise.
        """
        if effects <= _RUNS_NO_CODE or self._is_stored:
            return
        is_first = not self._have_run
        self._have_run = True
        if is_first:
            self._on_first()
        async with self._lock:
            if not self._is_stored:
                await asyncio.to_thread(write_private_file, self._file, b"A script of a model has run in the page.\n")
                self._is_stored = True
