"""Temporary profile folders: one per browser process, removed with it, or at the next start after a kill."""

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

_ATTEMPTS = 20
_PAUSE_S = 0.1


class ProfileFolders:
    """Creates and removes the profile folders of one state folder's browsers.

    They are in the system's folder for temporary files, because a browser creates a socket in them, and a socket's path
    may have at most 107 bytes. Their names contain a hash of the state folder: its owner may remove them all at start,
    because no other process can be using them.
    """

    def __init__(self, state_folder: Path) -> None:
        mark = hashlib.sha256(os.fsencode(state_folder.resolve())).hexdigest()[:12]
        self._prefix = f"agentcore-browser-{mark}-"

    def create(self) -> Path:
        """Create a folder for one browser process, accessible only to the current user."""
        return Path(tempfile.mkdtemp(prefix=self._prefix))

    def remove(self, folder: Path) -> None:
        """Remove a folder, with retries because an exiting browser may still write to it."""
        for attempt in range(_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                return
            time.sleep(_PAUSE_S * (attempt + 1) / 4)
        log.warning("profile_folder_left", folder=str(folder))

    def remove_all(self) -> int:
        """Remove the folders that an earlier process left behind, and return their number."""
        found = [path for path in Path(tempfile.gettempdir()).glob(f"{self._prefix}*") if _is_own_folder(path)]
        for folder in found:
            self.remove(folder)
        if found:
            log.info("profile_folders_removed", count=len(found))
        return len(found)


def _is_own_folder(path: Path) -> bool:
    status = path.lstat()
    return path.is_dir() and not path.is_symlink() and status.st_uid == os.geteuid()
