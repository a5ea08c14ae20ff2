"""`Entry`: one control file as it was at a look."""

import hashlib
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentcore_shell_tools.control.tree import Kind

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CONTENT_BYTES = 64 * 1024
"""A larger file is known by its digest alone, and cannot be put back as it was."""
_DIGEST_BYTES = 8 * 1024 * 1024
"""Of a larger file, its size and its times stand for the rest."""
_UNCERTAIN_NS = 2_500_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One control file.

    Args:
        kind: What it is.
        digest: Its content, or where it leads.
        content: All of a small file; None: it is none.
        inode: Its inode.
        links: How many names it has.
        stamp: What changes when it does; None: it changed too short a time ago to rely on that.
    """

    kind: Kind
    digest: str
    content: bytes | None = None
    inode: int = 0
    links: int = 1
    stamp: tuple[int, ...] | None = None


def read_entry(path: str, kind: Kind, known: Entry | None) -> Entry | None:
    """Read one; None: it is not there any more.

    Args:
        path: Where it is.
        kind: What it is.
        known: How it was before.
    """
    now = time.time_ns()
    try:
        status = os.lstat(path)
        stamp = status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        if known is not None and known.kind == kind and known.stamp == stamp:
            return known
        certain = stamp if status.st_ctime_ns + _UNCERTAIN_NS < now else None
        digest, content = _digest(path, status)
    except OSError:
        return None if not os.path.lexists(path) else Entry(kind, "closed")
    return Entry(kind, digest, content, status.st_ino, status.st_nlink, certain)


def _digest(path: str, status: os.stat_result) -> tuple[str, bytes | None]:
    if stat.S_ISLNK(status.st_mode):
        return f"link:{Path(path).readlink()}", None
    if not stat.S_ISREG(status.st_mode):
        return f"other:{status.st_mode}", None
    if status.st_size > _DIGEST_BYTES:
        return f"large:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}", None
    with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
        content = file.read(_DIGEST_BYTES + 1)
    kept = content if len(content) <= _CONTENT_BYTES else None
    return f"file:{hashlib.sha256(content).hexdigest()}", kept


def read_entries(found: dict[str, Kind], known: Callable[[str], Entry | None]) -> dict[str, Entry]:
    """Read all that were found and are there."""
    read = ((path, read_entry(path, kind, known(path))) for path, kind in found.items())
    return {path: entry for path, entry in read if entry is not None}
