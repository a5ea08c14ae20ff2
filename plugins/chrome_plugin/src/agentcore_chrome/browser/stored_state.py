"""Stored log-ins of a remote browser, which cannot use a profile folder of this machine."""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

log = structlog.get_logger(__name__)

FILE_NAME = "storage-state.json"
SAVE_SECONDS = 20.0
"""Interval of saving; later changes are lost with the connection."""


class StorageStateFile:
    """Cookies, local storage and IndexedDB of one context, in a file (0600) of the profile folder.

    Args:
        profile: The folder of the setting `profile`.
    """

    def __init__(self, profile: Path) -> None:
        self._file = profile.expanduser().absolute() / FILE_NAME
        self._saved = ""
        self._saving = asyncio.Lock()

    async def load(self) -> dict[str, Any] | None:
        """Return the stored state; None: there is none. An unreadable file is renamed to `.broken`."""
        return await asyncio.to_thread(self._read_file)

    async def save(self, context: "BrowserContext") -> None:
        """Store the context's state if it has changed."""
        async with self._saving:
            state = json.dumps(await context.storage_state(indexed_db=True))
            if state != self._saved:
                await asyncio.to_thread(self._write_file, state)
                self._saved = state

    async def save_periodically(self, context: "BrowserContext") -> None:
        """Save at intervals until cancelled, because a connection may end without notice."""
        while True:
            await asyncio.sleep(SAVE_SECONDS)
            try:
                async with asyncio.timeout(SAVE_SECONDS):
                    await self.save(context)
            except Exception as exc:  # noqa: BLE001 - a page that hangs does not answer; it is tried again
                log.info("storage_state_not_kept", reason=type(exc).__name__)

    def _read_file(self) -> dict[str, Any] | None:
        try:
            text = self._file.read_text("utf-8")
        except FileNotFoundError:
            return None
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self._file.replace(self._file.with_suffix(".broken"))
            log.warning("storage_state_broken", file=str(self._file))
            return None
        self._saved = text
        return found

    def _write_file(self, text: str) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=self._file.parent, prefix=".storage-")  # readable only by the owner
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._file)
