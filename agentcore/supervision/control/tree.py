"""`Tree`: finds the control files below folders, quickly also in large trees that have hardly changed."""

import os
import stat
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentcore.files.workspace import Workspace
from agentcore.supervision.control.names import ASIDE, is_git_folder

Kind = Literal["hook", "config", "redirect", "named", "link"]
"""`hook`: git runs it. `config`: git's, whose keys count. `redirect`: leads git elsewhere. `named`: by its name.
`link`: on the way to one of these."""

_UNCERTAIN_NS = 2_500_000_000
"""A folder that changed so short a time before it was listed may have changed again at the same time stamp; the
coarsest file systems count in steps of two seconds."""
_DEPENDENCIES = frozenset(("node_modules", "site-packages"))
"""Folders of packages: nobody opens them in an editor, and packages bring files of such names."""
_IN_GIT = ("hooks", "modules", "worktrees", "remotes", "branches")
_RUN_BY_GIT = frozenset(("hooks", "remotes", "branches"))
"""`remotes` and `branches` hold addresses in the old way; git obeys them."""
_GIT_FILES: tuple[tuple[str, Kind], ...] = (
    ("config", "config"), ("config.worktree", "config"), ("commondir", "redirect"),
)  # fmt: skip


class TooLargeError(Exception):
    """The tree has more folders than are looked at."""


class Listed:
    """A folder as it was listed; the same object for as long as it has not changed.

    Attributes:
        role: `plain`: it holds what people work on; else what kind of control files it holds.
        inode: Its inode.
        ctime_ns: When it last changed; 0: too short a time before it was listed to rely on that.
        folders: The folders in it that are looked at, and their roles.
        controls: The control files in it.
        is_git: Whether git takes it for a repository.
    """

    __slots__ = ("controls", "ctime_ns", "folders", "inode", "is_git", "role")

    def __init__(self, role: str, inode: int, ctime_ns: int) -> None:
        self.role, self.inode, self.ctime_ns = role, inode, ctime_ns
        self.folders: list[tuple[str, str]] = []
        self.controls: list[tuple[str, Kind]] = []
        self.is_git = False


@dataclass(slots=True)
class Found:
    """What lies below the roots at one moment.

    Args:
        folders: Each folder, by its path.
        controls: Each control file's path, and what it is.
        guarded: Paths of folders of which all that lies in them is a control file.
        git: Paths of all repositories' folders (`.git`, bare ones, those of submodules and worktrees).
        closed: Folders that could not be listed.
    """

    folders: dict[str, Listed] = field(default_factory=dict)
    controls: dict[str, Kind] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    closed: list[str] = field(default_factory=list)

    def inode(self, path: str) -> int | None:
        """The inode of a folder, if it is there."""
        listed = self.folders.get(path)
        return None if listed is None else listed.inode


class Tree:
    """The folders below the roots, listed again only where they have changed (their ctime says so, which nothing in a
    sandbox can set).

    Args:
        workspace: Says which names are protected.
        limit: Folders that are looked at, at most.
    """

    def __init__(self, workspace: Workspace, limit: int) -> None:
        self._workspace, self._limit = workspace, limit
        self._listed: dict[str, Listed] = {}
        self._left_closed: Collection[str] | None = None
        self._by_role = {
            "plain": self._list_plain,
            "git": self._list_git,
            "git_holding": self._list_git_holding,
            "hooks": self._list_hooks,
            "named": self._list_named,
        }

    def look(self, led: Mapping[str, Kind], left_closed: Collection[str] | None = None) -> Found:
        """Find all control files.

        Args:
            led: Further files and folders that git runs or obeys, by their paths.
            left_closed: Folders that stay as they are where they cannot be listed; others are opened to their owner,
                for git goes into a folder that shows its names to nobody. None: all stay.
        Raises:
            TooLargeError: There are more folders than the limit.
        """
        found = Found()
        self._left_closed = left_closed
        for root in self._roots():
            self._walk(root, led, found)
        self._listed = found.folders
        for path, kind in led.items():
            if path not in found.folders and os.path.lexists(path) and (kind != "link" or path not in found.controls):
                found.controls[path] = kind
        return found

    def forget(self) -> None:
        """List all folders again: other names are protected than before."""
        self._listed = {}

    def _walk(self, root: str, led: Mapping[str, Kind], found: Found) -> None:
        """What a look at a large tree takes."""
        folders, known, limit = found.folders, self._listed, self._limit
        ahead = [(root, "plain")]
        while ahead:
            path, role = ahead.pop()
            if path in led:
                role = "hooks"
            listed = self._list(path, role, root, known.get(path), found.closed)
            if listed is None:
                continue
            folders[path] = listed
            if len(folders) > limit:
                raise TooLargeError
            if listed.folders:
                ahead += listed.folders
            if listed.controls or listed.is_git or role != "plain":
                _take(path, listed, found)

    def _roots(self) -> Iterator[str]:
        roots = [str(root) for root in self._workspace.roots]
        yield from (root for root in roots if not any(root.startswith(f"{other}/") for other in roots))

    def _list(self, path: str, role: str, root: str, known: Listed | None, closed: list[str]) -> Listed | None:
        now = time.time_ns()
        try:
            status = os.lstat(path)
        except OSError:
            return None  # it has gone, or the folder above is closed
        inode, ctime_ns = status.st_ino, status.st_ctime_ns
        try:
            if known is not None and known.ctime_ns == ctime_ns and known.inode == inode and known.role == role:
                return known
            if not stat.S_ISDIR(status.st_mode):
                return None
            kinds = self._names(path)
        except FileNotFoundError:
            return None
        except OSError:
            closed.append(path)
            kinds, ctime_ns = {}, 0
        listed = Listed(role, inode, ctime_ns if ctime_ns + _UNCERTAIN_NS < now else 0)
        self._by_role[role](path, kinds, root, listed)
        return listed

    def _names(self, path: str) -> dict[str, bool]:
        """The names in a folder, and whether each is a folder."""
        try:
            return _scan(path)
        except PermissionError:
            if self._left_closed is None or path in self._left_closed:
                raise
            folder = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.chmod(f"/proc/self/fd/{folder}", stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRUSR)  # noqa: PTH101
            finally:
                os.close(folder)
            return _scan(path)

    def _list_plain(self, path: str, kinds: dict[str, bool], root: str, listed: Listed) -> None:
        """A folder of the workspace."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git_files(path, kinds, listed)
        parts = path[len(root) + 1 :].split("/") if path != root else []
        named = set() if not _DEPENDENCIES.isdisjoint(parts) else self._protected(parts, kinds)
        for name, is_folder in kinds.items():
            below = f"{path}/{name}"
            if name == ".git":
                _add(below, "redirect", is_folder, "git", listed)
            elif listed.is_git and name == "hooks":
                _add(below, "hook", is_folder, "hooks", listed)
            elif name in named and not ASIDE.search(name):
                _add(below, "named", is_folder, "named", listed)
            elif is_folder:
                listed.folders.append((below, "plain"))

    def _protected(self, parts: Sequence[str], kinds: dict[str, bool]) -> set[str]:
        return set(self._workspace.protected_among(parts, kinds))

    def _list_git(self, path: str, kinds: dict[str, bool], root: str, listed: Listed) -> None:
        """A folder `.git`, or one below its `modules` and `worktrees`: only what git runs or obeys."""
        listed.is_git = is_git_folder(path, kinds)
        self._list_git_files(path, kinds, listed)
        for name in _IN_GIT:
            if name in _RUN_BY_GIT and name in kinds:
                _add(f"{path}/{name}", "hook", kinds[name], "hooks", listed)
            elif kinds.get(name):
                listed.folders.append((f"{path}/{name}", "git_holding"))

    def _list_git_holding(self, path: str, kinds: dict[str, bool], root: str, listed: Listed) -> None:
        """`modules` or `worktrees`, whose names may have slashes in them."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git(path, kinds, root, listed)
        else:
            listed.folders += [(f"{path}/{name}", "git_holding") for name, is_folder in kinds.items() if is_folder]

    def _list_hooks(self, path: str, kinds: dict[str, bool], root: str, listed: Listed) -> None:
        """A folder that git runs programs of."""
        for name, is_folder in kinds.items():
            if not name.endswith(".sample") and not ASIDE.search(name):
                _add(f"{path}/{name}", "hook", is_folder, "hooks", listed)
            elif is_folder:
                listed.folders.append((f"{path}/{name}", "plain"))  # git runs nothing of it; a repository may be in it

    def _list_named(self, path: str, kinds: dict[str, bool], root: str, listed: Listed) -> None:
        """A folder that is protected with all in it; repositories in it are what they are elsewhere."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git_files(path, kinds, listed)
        known = {name for name, _ in _GIT_FILES} | {"hooks"} if listed.is_git else set()
        for name, is_folder in kinds.items():
            below = f"{path}/{name}"
            if name == ".git":
                _add(below, "redirect", is_folder, "git", listed)
            elif listed.is_git and name == "hooks":
                _add(below, "hook", is_folder, "hooks", listed)
            elif ASIDE.search(name):
                if is_folder:
                    listed.folders.append((below, "plain"))
            elif name not in known:
                _add(below, "named", is_folder, "named", listed)

    @staticmethod
    def _list_git_files(path: str, kinds: dict[str, bool], listed: Listed) -> None:
        listed.controls += [(f"{path}/{name}", kind) for name, kind in _GIT_FILES if kinds.get(name) is False]


def _scan(path: str) -> dict[str, bool]:
    with os.scandir(path) as entries:
        return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}


def _take(path: str, listed: Listed, found: Found) -> None:
    """Add what is special about a folder to what was found."""
    if listed.role in ("hooks", "named"):
        found.guarded.add(path)
    if listed.is_git:
        found.git.add(path)
    found.controls.update(listed.controls)


def _add(path: str, kind: Kind, is_folder: bool, role: str, listed: Listed) -> None:
    if is_folder:
        listed.folders.append((path, role))
    else:
        listed.controls.append((path, kind))
