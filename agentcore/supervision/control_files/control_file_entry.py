"""`Entry`: the state of one control file at the time of a scan."""

import hashlib
import os
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentcore.files.git_config import read_gitdir
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.harmful_config import JudgedConfig
from agentcore.supervision.control_files.tree import Kind

_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CONTENT_BYTES = 64 * 1024
"""Only the digest is stored of a larger file, which therefore cannot be restored."""
_STEPS_BYTES = 4 * 1024 * 1024
"""The same limit for the steps of a rebase: a long one has a line for each of very many commits."""
_DIGEST_BYTES = 8 * 1024 * 1024
"""A larger file is identified by its size and timestamps instead of a hash."""
_UNCERTAIN_NS = 2_500_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One control file.

    Args:
        kind: The kind of control file.
        digest: A hash of its content, or its target if it is a link.
        content: The content of a small file; None for other files.
        inode: Its inode.
        links: Its number of hard links.
        stamp: Metadata that changes with the file; None if it changed too recently to rely on that.
        targets: Paths that it redirects git to.
        real_paths: The resolved targets: if a link changes, the same content redirects elsewhere.
        hooks: Its values for the folder of git's hooks, verbatim.
        included: Further configuration files that it includes, verbatim.
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
        """True if it redirects git, so that the same content means something else in another folder."""
        return self.kind in ("redirect", "way") or bool(self.targets or self.hooks or self.included)

    def is_like(self, other: "Entry") -> bool:
        """True if both have the same effect, given that they have the same path."""
        return (self.kind, self.digest, self.real_paths) == (other.kind, other.digest, other.real_paths)

    def decode_content(self) -> str | None:
        """Return the content as text; None if it is not stored."""
        return None if self.content is None else self.content.decode("utf-8", "surrogateescape")


def read_entry(path: str, kind: Kind, known: Entry | None) -> Entry | None:
    """Read a control file; None if it does not exist any more.

    Args:
        path: Its path.
        kind: Its kind.
        known: Its previous state, which is reused if the stamp is unchanged.
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
    """Add the redirects of git in a `.git` file or link, a `commondir` file, or a configuration file."""
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
    """Read all control files that were found and still exist."""
    read = ((path, read_entry(path, kind, known(path))) for path, kind in found.items())
    return {path: entry for path, entry in read if entry is not None}
