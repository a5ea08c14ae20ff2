"""What keeps log-ins of a browser elsewhere: a profile folder cannot be used there, so its storage is kept here."""

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
"""How often it is looked at; what came since is lost with the connection."""


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
        """What was kept; None: nothing yet. A file that cannot be read is left where it is, under another name."""
        return await asyncio.to_thread(self._read_file)

    async def save(self, context: "BrowserContext") -> None:
        """Keep what the context holds now, if that is something else than before."""
        async with self._saving:
            state = json.dumps(await context.storage_state(indexed_db=True))
            if state != self._saved:
                await asyncio.to_thread(self._write_file, state)
                self._saved = state

    async def save_periodically(self, context: "BrowserContext") -> None:
        """Keep it again and again, for a connection may end without a word. Ends when it is cancelled."""
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
        descriptor, name = tempfile.mkstemp(dir=self._file.parent, prefix=".storage-")  # readable by the owner alone
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._file)
