"""The lock by which one process holds a state folder for its lifetime."""

import errno
import fcntl
import os
from pathlib import Path

from agentcore.store.state.state_errors import StateDirError

LOCK_NAME = "lock"
"""The file in the state folder that is locked."""

_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# a process that only checks (`is_locked`) has the lock for microseconds; this many collisions in a row do not happen
_TRIES = 1000


def acquire_lock(folder: Path) -> int | None:
    """Lock a state folder.

    Returns:
        The descriptor that holds the lock until it is closed; None: another process has it.
    """
    for _ in range(_TRIES):
        descriptor = _open_lock(folder)
        if _try_lock(descriptor, fcntl.LOCK_EX):
            return descriptor
        is_held_by_another = not _try_lock(descriptor, fcntl.LOCK_SH)
        os.close(descriptor)
        if is_held_by_another:
            return None
    return None


def is_locked(folder: Path) -> bool:
    """Return True if a living process holds the state folder; changes and creates nothing."""
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise StateDirError(f"{folder / LOCK_NAME} cannot be read: {exc.strerror}") from exc
    try:
        return not _try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _open_lock(folder: Path) -> int:
    try:
        return os.open(folder / LOCK_NAME, _OPEN_FLAGS, 0o600)
    except OSError as exc:
        raise StateDirError(f"{folder / LOCK_NAME} cannot be opened: {exc.strerror}") from exc


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as exc:
        if exc.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise StateDirError(f"the file system of the state folder has no locks: {exc.strerror}") from exc
    return True
