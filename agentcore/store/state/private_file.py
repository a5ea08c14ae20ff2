"""Files and folders that only their owner may read, written whole or not at all."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from agentcore.store.state.errors import StateDirError

_MODE_FOLDER = 0o700
_MODE_FILE = 0o600
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TEMPORARY_SUFFIX = ".new"


def make_private_folder(folder: Path) -> None:
    """Make a folder with mode 0700, or give an existing one that mode.

    Raises:
        StateDirError: It cannot be made, is no folder, or belongs to somebody else.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_MODE_FOLDER, exist_ok=True)
        status = folder.stat()
        if status.st_uid != os.geteuid():
            raise StateDirError(
                f"the folder {folder} belongs to another user (uid {status.st_uid}); choose another one"
            )
        if stat.S_IMODE(status.st_mode) != _MODE_FOLDER:
            folder.chmod(_MODE_FOLDER)
    except OSError as exc:
        raise StateDirError(f"the folder {folder} cannot be made or used: {exc.strerror}") from exc


def write_private_file(path: Path, data: bytes) -> None:
    """Replace a file atomically; its mode is 0600, and the bytes are on the disk when this returns.

    Raises:
        OSError: It could not be written; what stood there before is untouched.
    """
    temporary = _write_temporary(path, data)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def create_private_file(path: Path, data: bytes) -> bool:
    """Make a file with mode 0600 unless there is one; a reader sees all of it or none.

    Returns:
        Whether this call made it.
    """
    temporary = _write_temporary(path, data)
    try:
        # a link, and not a rename: it fails where the name is taken already
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    _sync_folder(path.parent)
    return True


def read_private_file(path: Path, limit_bytes: int) -> bytes | None:
    """The content of a regular file (links are not followed), or None where there is none.

    Raises:
        StateDirError: It is something else than a file, too large, or must not be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise StateDirError(f"{path} cannot be read: {exc.strerror}") from exc
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > limit_bytes:
            raise StateDirError(f"{path} is not a file of agentcore; remove it")
        if stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(descriptor, _MODE_FILE)
        return os.read(descriptor, limit_bytes)
    finally:
        os.close(descriptor)


class NewPrivateFile:
    """A file with mode 0600 that is written piece by piece, and is there when it is kept or not at all.

    Args:
        path: Where it is to stand.
    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = _temporary_path(path)
        self._file = os.fdopen(os.open(self._temporary, _NEW_FILE, _MODE_FILE), "wb")

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            OSError: There is no room for them.
        """
        self._file.write(data)

    def commit(self) -> None:
        """Put it in its place; its bytes are on the disk when this returns.

        Raises:
            OSError: It could not be written.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._temporary.replace(self._path)
        _sync_folder(self._path.parent)

    def discard(self) -> None:
        """Take back what was not kept; harmless after `keep`."""
        with suppress(OSError):  # what could not be written cannot be flushed either
            self._file.close()
        self._temporary.unlink(missing_ok=True)


def _write_temporary(path: Path, data: bytes) -> Path:
    temporary = _temporary_path(path)
    descriptor = os.open(temporary, _NEW_FILE, _MODE_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
