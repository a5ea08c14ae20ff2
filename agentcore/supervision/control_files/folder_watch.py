"""`FolderWatch`: learns from the kernel (inotify(7)) which of very many folders have changed, without scanning them."""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 20
_CREATE = 0x100
_DELETE = 0x200
_MOVED = 0xC0
_ATTRIB = 0x4
_OVERFLOW = 0x4000
_ONLY_FOLDERS = 0x1000000
_NO_LINKS = 0x2000000
_ONCE = 0x80000000
# One event for each folder, however much happens in it: the kernel's queue is bounded.
_MASK = _CREATE | _DELETE | _MOVED | _ATTRIB | _ONLY_FOLDERS | _NO_LINKS | _ONCE
_LIMIT_FILE = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE = 2
"""The divisor of the system's limit, which all programs of the user share: an editor needs some watches, too."""

_LOCAL = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "jfs", "tmpfs", "ramfs", "overlay")
)
"""File systems of which the kernel sees each change; files of others may be changed by another machine."""


class WatchUnavailableError(Exception):
    """Raised when folders cannot be watched; the message is the reason, as part of a sentence."""


class FolderWatch:
    """Watches folders, each until its first change.

    Raises:
        WatchUnavailableError: If the system has no inotify, or no more instances of it.
    """

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "inotify_init1"):
            raise WatchUnavailableError("the system cannot watch folders")
        self._add_watch = libc.inotify_add_watch
        self._remove_watch = libc.inotify_rm_watch
        self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise WatchUnavailableError(f"the system watches no more folders: {os.strerror(ctypes.get_errno())}")
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._limit = _read_limit()

    def close(self) -> None:
        """Stop watching; safe to call twice."""
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)

    def add(self, path: str) -> bool:
        """Watch a folder until its next change; list the folder after this call, so that no change is missed.

        Returns:
            False if it cannot be watched because it does not exist, is not a folder, or is not readable.
        Raises:
            WatchUnavailableError: If there are too many watches.
        """
        number = self._add_watch(self._fd, os.fsencode(path), _MASK)
        if number < 0:
            if ctypes.get_errno() == errno.ENOSPC:
                raise self._too_many()
            return False
        # A folder that was moved here keeps its watch number, so the number now stands for the new path.
        self._paths[number] = path
        self._watches[path] = number
        if len(self._watches) > self._limit:
            raise self._too_many()
        return True

    def remove(self, path: str) -> None:
        """Stop watching a path; the folder that was there may be watched under another path."""
        number = self._watches.pop(path, None)
        if number is not None and self._paths.get(number) == path:
            del self._paths[number]
            self._remove_watch(self._fd, number)

    def read_changed(self) -> set[str] | None:
        """Return the paths of folders that changed since they were added; None if the kernel's queue overflowed."""
        changed: set[str] = set()
        is_complete = True
        with suppress(BlockingIOError):
            while data := os.read(self._fd, _READ_BYTES):
                offset = 0
                while offset < len(data):
                    number, mask, _, length = _EVENT.unpack_from(data, offset)
                    offset += _EVENT.size + length
                    is_complete = is_complete and not mask & _OVERFLOW
                    path = self._paths.pop(number, None)
                    if path is not None:
                        changed.add(path)
                        if self._watches.get(path) == number:
                            del self._watches[path]
        return changed if is_complete else None

    def _too_many(self) -> WatchUnavailableError:
        return WatchUnavailableError(
            f"half of the {self._limit * _SHARE:,} folders that the system watches for all of your programs are too few"
        )


def _read_limit() -> int:
    try:
        return max(1, int(_LIMIT_FILE.read_text(encoding="ascii")) // _SHARE)
    except (OSError, ValueError):
        return 8192 // _SHARE


def read_mounts(roots: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """List the mounts at or below folders, and check if all file systems involved are local.

    Returns:
        One line per mount from /proc/self/mountinfo, for comparison with later results; and True if these file systems
        and those that contain the folders are all local, so that the kernel sees each change.
    """
    try:
        text = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return (), False
    return _find_mounts(text, tuple(roots))


@lru_cache(maxsize=8)  # the table rarely changes between two commands
def _find_mounts(text: str, roots: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    spelled = [_escape_path(root) for root in roots]
    inside: list[str] = []
    holding = dict.fromkeys(spelled, (-1, ""))
    for line in text.splitlines():
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4]
        kind = rest.partition(" ")[0]
        if any(f"{point}/".startswith(f"{root}/") for root in spelled):
            inside.append(f"{fields.split(' ')[2]} {point} {kind}")
        for root in spelled:
            # Of two mounts at the same path the later one is visible.
            if f"{root}/".startswith(f"{point.rstrip('/')}/") and len(point) >= holding[root][0]:
                holding[root] = len(point), kind
    kinds = {kind for _, kind in holding.values()} | {line.rpartition(" ")[2] for line in inside}
    return tuple(inside), kinds <= _LOCAL


def _escape_path(path: str) -> str:
    """Escape a path as in /proc/self/mountinfo."""
    for character, code in (("\\", "\\134"), (" ", "\\040"), ("\t", "\\011"), ("\n", "\\012")):
        path = path.replace(character, code)
    return path
