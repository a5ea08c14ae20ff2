"""Temporary profile folders: one for each browser process, gone with it, or at the next start after a kill."""

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
    """Makes and removes the folders of one state folder's browsers.

    They stand in the system's folder for temporary files, because a browser puts a socket below, and a socket's path
    may have 107 bytes. Their names carry a mark of the state folder: whoever holds it may remove what is there at
    its start, for nobody else can be using it.
    """

    def __init__(self, state_folder: Path) -> None:
        mark = hashlib.sha256(os.fsencode(state_folder.resolve())).hexdigest()[:12]
        self._prefix = f"agentcore-browser-{mark}-"

    def create(self) -> Path:
        """A new folder for one browser process, open to nobody else."""
        return Path(tempfile.mkdtemp(prefix=self._prefix))

    def remove(self, folder: Path) -> None:
        """Remove a folder; a browser that is on its way out may write into it still, so try for a while."""
        for attempt in range(_ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                return
            time.sleep(_PAUSE_S * (attempt + 1) / 4)
        log.warning("profile_folder_left", folder=str(folder))

    def remove_all(self) -> int:
        """Remove what an earlier process left behind; gives how many folders there were."""
        found = [path for path in Path(tempfile.gettempdir()).glob(f"{self._prefix}*") if _is_own_folder(path)]
        for folder in found:
            self.remove(folder)
        if found:
            log.info("profile_folders_removed", count=len(found))
        return len(found)


def _is_own_folder(path: Path) -> bool:
    status = path.lstat()
    return path.is_dir() and not path.is_symlink() and status.st_uid == os.geteuid()
