"""`Entry`: one control file as it was at a look."""

import hashlib
import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agentcore.files.git_config import read_gitdir
from agentcore.supervision.control.harmful_config import JudgedConfig
from agentcore.supervision.control.tree import Kind

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CONTENT_BYTES = 64 * 1024
"""A larger file is known by its digest alone, and cannot be put back as it was."""
_STEPS_BYTES = 4 * 1024 * 1024
"""The same for the steps of a rebase: a long one has a line for each of very many commits."""
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
        targets: Paths that it leads git to.
        real_paths: What these really are: by a link that changes, the same content leads elsewhere.
        hooks: Where it says that git's hooks are, as it spells that.
        included: Further configuration, as it spells that.
    """

    kind: Kind
    digest: str
    content: bytes | None = None
    inode: int = 0
    links: int = 1
    stamp: tuple[int, ...] | None = None
    targets: tuple[str, ...] = ()
    real_paths: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    included: tuple[str, ...] = ()

    @property
    def redirects_git(self) -> bool:
        """Whether git is led on by it: to another place from another folder."""
        return self.kind in ("redirect", "way") or bool(self.targets or self.hooks or self.included)

    def is_like(self, other: "Entry") -> bool:
        """Whether it means the same, where both stand at one path."""
        return (self.kind, self.digest, self.real_paths) == (other.kind, other.digest, other.real_paths)

    def decode_content(self) -> str | None:
        """What it holds; None: not known."""
        return None if self.content is None else self.content.decode("utf-8", "surrogateescape")


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
            return known if not known.targets else replace(known, real_paths=_real_paths(known.targets))
        certain = stamp if status.st_ctime_ns + _UNCERTAIN_NS < now else None
        digest, content = _read_digest(path, status, _STEPS_BYTES if kind == "steps" else _CONTENT_BYTES)
    except OSError:
        return None if not os.path.lexists(path) else Entry(kind, "closed")
    return _add_targets(path, Entry(kind, digest, content, status.st_ino, status.st_nlink, certain))


def _add_targets(path: str, entry: Entry) -> Entry:
    """Add where git is led: by a file or link `.git`, a `commondir`, or a configuration."""
    folder = os.path.dirname(path)  # noqa: PTH120
    text = entry.decode_content()
    if entry.kind == "config" and text is not None:
        config = JudgedConfig(text, folder)
        targets = config.targets()
        return replace(
            entry, targets=targets, real_paths=_real_paths(targets), hooks=config.hooks(), included=config.included()
        )
    if entry.kind == "redirect":
        name = entry.digest[5:] if text is None else read_gitdir(text)
        targets = (os.path.join(folder, name),) if name else ()  # noqa: PTH118
        return replace(entry, targets=targets, real_paths=_real_paths(targets))
    return entry


def _real_paths(targets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(os.path.realpath, targets))


def _read_digest(path: str, status: os.stat_result, kept_bytes: int) -> tuple[str, bytes | None]:
    if stat.S_ISLNK(status.st_mode):
        return f"link:{Path(path).readlink()}", None
    if not stat.S_ISREG(status.st_mode):
        return f"other:{status.st_mode}", None
    if status.st_size > _DIGEST_BYTES:
        return f"large:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}", None
    with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
        content = file.read(_DIGEST_BYTES + 1)
    kept = content if len(content) <= kept_bytes else None
    return f"file:{hashlib.sha256(content).hexdigest()}", kept


def read_entries(found: dict[str, Kind], known: Callable[[str], Entry | None]) -> dict[str, Entry]:
    """Read all that were found and are there."""
    read = ((path, read_entry(path, kind, known(path))) for path, kind in found.items())
    return {path: entry for path, entry in read if entry is not None}
