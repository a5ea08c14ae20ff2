"""Find files that git runs or obeys because the configuration of a repository, or the user's own, names them."""

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import field

from agentcore.files.git_config import GitConfig, global_config_files, read_gitdir
from agentcore.files.protection import REPOSITORY_MARKS, is_repository
from agentcore.late_dataclasses import dataclass

_KEPT_SECONDS = 0.5
_CONFIGS_READ = 20
_CONFIG_BYTES = 256 * 1024
"""Limits for reading a configuration: the number of files, including included ones, and the size of each."""
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass
class _Configs:
    """The combined content of some configuration files.

    Args:
        hooks: The hook folders, as written there.
        worktrees: The working folders (`core.worktree`), as written there.
        included: The real paths of included configuration files.
    """

    hooks: list[str] = field(default_factory=list)
    worktrees: list[str] = field(default_factory=list)
    included: set[str] = field(default_factory=set)


class GitLeads:
    """Finds the repositories above a path, and the hooks and configuration that they refer to.

    A folder is a repository if it has a folder `.git`, a file of that name (a worktree or submodule), or is a bare
    repository itself. Configuration outside the roots is read as well, but never shown to anyone.
    """

    def __init__(self) -> None:
        self._found: dict[str, frozenset[str]] = {}
        self._everywhere = _Configs()
        self._read_at = float("-inf")

    def above(self, folder: str) -> frozenset[str]:
        """Find the hooks and configuration that the repositories in a folder and above it refer to.

        They are cached for `_KEPT_SECONDS`: a walk through a tree asks for each file about all folders above it.

        Args:
            folder: Absolute, without links.
        Returns:
            Real paths.
        """
        now = time.monotonic()
        if now - self._read_at > _KEPT_SECONDS:
            self._found = {"": self._read_everywhere()}
            self._read_at = now
        known = self._found  # another thread may replace the cache meanwhile
        unknown: list[str] = []
        while folder not in known:
            unknown.append(folder)
            folder = os.path.dirname(folder) if folder != "/" else ""  # noqa: PTH120
        found = known[folder]
        for each in reversed(unknown):
            if git := _git_folder(each):
                found |= self._read_repository(each, git)
            known[each] = found
        return found

    def _read_everywhere(self) -> frozenset[str]:
        files = global_config_files()
        self._everywhere = _read_configs(files)
        absolute = {path for name in self._everywhere.hooks if os.path.isabs(path := os.path.expanduser(name))}  # noqa: PTH111, PTH117
        return frozenset(map(os.path.realpath, (*files, *absolute))) | self._everywhere.included

    def _read_repository(self, top: str, git: str) -> frozenset[str]:
        common = os.path.join(git, _read_text(f"{git}/commondir").rstrip("\r\n"))  # noqa: PTH118
        own = [f"{common}/config", f"{git}/config.worktree"]
        configs = _read_configs(own)
        bases = {top, git, *(os.path.join(git, name) for name in configs.worktrees)}  # noqa: PTH118
        hooks = {_joined(base, name) for name in (*configs.hooks, *self._everywhere.hooks) for base in bases}
        return frozenset(map(os.path.realpath, (*own, f"{common}/hooks", *hooks))) | configs.included


def _git_folder(folder: str) -> str:
    """Return the git folder of a working folder, or of a bare repository; empty if the folder is neither."""
    path = f"{folder}/.git"
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        status = None
    if status is not None and stat.S_ISDIR(status.st_mode):
        return path
    if status is not None and (name := read_gitdir(_read_text(path))):
        return os.path.join(folder, name)  # noqa: PTH118
    if not os.path.lexists(f"{folder}/HEAD"):
        return ""  # most folders have none: skip the other marks
    marks = {mark for mark in REPOSITORY_MARKS if os.path.lexists(os.path.join(os.fsencode(folder), mark))}  # noqa: PTH118
    return folder if is_repository(marks) else ""


def _read_configs(paths: Iterable[str]) -> _Configs:
    """Read configuration files and those that they include."""
    found = _Configs()
    ahead = list(paths)
    seen: set[str] = set()
    while ahead and len(seen) < _CONFIGS_READ:
        path = ahead.pop(0)
        if (real_path := os.path.realpath(path)) in seen:
            continue
        seen.add(real_path)
        config = GitConfig(_read_text(path))
        found.hooks += config.hooks()
        found.worktrees += config.values("core.worktree")
        included = [_joined(os.path.dirname(path), name) for name in config.included()]  # noqa: PTH120
        found.included.update(map(os.path.realpath, included))
        ahead += included
    return found


def _joined(base: str, name: str) -> str:
    return os.path.join(base, os.path.expanduser(name))  # noqa: PTH111, PTH118


def _read_text(path: str) -> str:
    """Return the start of a regular file; empty if it cannot be read."""
    try:
        fd = os.open(path, _READ_FLAGS)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.read(fd, _CONFIG_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(fd)
