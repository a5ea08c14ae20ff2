"""Files and folders readable only by their owner; files are written completely or not at all."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from agentcore.store.state.state_errors import StateDirError

_MODE_FOLDER = 0o700
_MODE_FILE = 0o600
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TEMPORARY_SUFFIX = ".new"


def make_private_folder(folder: Path) -> None:
    """Create a folder with mode 0700, or set an existing one to that mode.

    Raises:
        StateDirError: It cannot be created, is not a folder, or belongs to another user.
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
    """Replace a file atomically; its mode is 0600, and the bytes are synced to disk when this returns.

    Raises:
        OSError: It could not be written; the existing file is untouched.
    """
    temporary = _write_temporary(path, data)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def create_private_file(path: Path, data: bytes) -> bool:
    """Create a file with mode 0600 unless it exists; a reader sees all of it or none.

    Returns:
        True if this call created it.
    """
    temporary = _write_temporary(path, data)
    try:
        # a link and not a rename: it fails if the name is already taken
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    _sync_folder(path.parent)
    return True


def read_private_file(path: Path, limit_bytes: int) -> bytes | None:
    """Return the content of a regular file, without following links, or None if it does not exist.

    Raises:
        StateDirError: It is not a regular file, is too large, or cannot be read.
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
    """A file with mode 0600 that is written in chunks and appears under its name only on `commit`.

    Args:
        path: Its final path.
    Raises:
        OSError: It cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = _temporary_path(path)
        self._file = os.fdopen(os.open(self._temporary, _NEW_FILE, _MODE_FILE), "wb")

    def write(self, data: bytes) -> None:
        """Append bytes.

        Raises:
            OSError: The disk is full, for instance.
        """
        self._file.write(data)

    def commit(self) -> None:
        """Move the file to its final path; its bytes are synced to disk when this returns.

        Raises:
            OSError: It could not be written.
        """
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._temporary.replace(self._path)
        _sync_folder(self._path.parent)

    def discard(self) -> None:
        """Discard the file if it was not committed; has no effect after `commit`."""
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
