"""`Tree`: finds the control files below folders, incrementally, so that large unchanged trees are cheap to rescan."""

import os
import stat
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.folder_watch import FolderWatch, WatchUnavailableError, read_mounts
from agentcore.supervision.control_files.quarantine_names import ASIDE, is_git_folder

Kind = Literal["hook", "config", "redirect", "named", "link", "way", "steps"]
"""`hook`: run by git. `config`: git configuration, checked key by key. `redirect`: points git to another folder.
`named`: protected by its name. `link`: a symlink on the path to one of these. `way`: a symlink whose name is a parent
of protected paths. `steps`: the pending steps of a rebase, which may run programs."""

_UNCERTAIN_NS = 2_500_000_000
"""A folder that changed this recently before it was listed may have changed again with the same timestamp; the
coarsest file systems have a resolution of two seconds."""
_DEPENDENCIES = frozenset(("node_modules", "site-packages"))
"""Package folders: they are not opened in an editor, and packages contain files with protected names."""
_IN_GIT = ("hooks", "modules", "worktrees", "remotes", "branches")
_RUN_BY_GIT = frozenset(("hooks", "remotes", "branches"))
"""`remotes` and `branches` hold remote addresses in git's legacy format, which git still obeys."""
_STEPS: dict[str, tuple[str, ...]] = {"rebase-merge": ("git-rebase-todo",), "sequencer": ("todo",)}
"""Folders in which git stores interrupted operations, and the files in them that list the remaining steps."""
_GIT_FILES: tuple[tuple[str, Kind], ...] = (
    ("config", "config"), ("config.worktree", "config"), ("commondir", "redirect"),
)  # fmt: skip


class TooLargeError(Exception):
    """Raised when the tree has more folders than the limit."""


class Listed:
    """A folder's listing; the same object is reused until the folder changes.

    Attributes:
        role: `plain` for an ordinary workspace folder; otherwise the kind of control files in it.
        given: The role that its parent folder implies.
        inode: The folder's inode.
        ctime_ns: The folder's ctime; 0 if it changed too recently before the listing to rely on it.
        folders: The subfolders to scan, and their roles.
        controls: The control files in it.
        is_git: True if git treats it as a repository.
    """

    __slots__ = ("controls", "ctime_ns", "folders", "given", "inode", "is_git", "role")

    def __init__(self, role: str, inode: int, ctime_ns: int) -> None:
        self.role = role
        self.given = role
        self.inode = inode
        self.ctime_ns = ctime_ns
        self.folders: list[tuple[str, str]] = []
        self.controls: list[tuple[str, Kind]] = []
        self.is_git = False


@dataclass(slots=True)
class Found:
    """The current content of the roots. It is shared with the tree, and the next scan updates it.

    Args:
        folders: Each folder by its path.
        before: The previous state of each folder that has changed since the last `set_baseline`; None if it is new.
        controls: The path and kind of each control file.
        guarded: Paths of folders in which every file is a control file.
        git: Paths of all repositories' git folders (`.git`, bare ones, those of submodules and worktrees).
        closed: Folders that could not be listed.
    """

    folders: dict[str, Listed] = field(default_factory=dict)
    before: dict[str, Listed | None] = field(default_factory=dict)
    controls: dict[str, Kind] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)

    def get_inode(self, path: str) -> int | None:
        """Return the inode of a folder, or None if it does not exist."""
        listed = self.folders.get(path)
        return None if listed is None else listed.inode

    def get_previous(self, path: str) -> Listed | None:
        """Return a folder's listing as of the last `set_baseline`, or None if it did not exist then."""
        return self.before[path] if path in self.before else self.folders.get(path)

    def update_folder(self, path: str, listed: Listed | None) -> None:
        """Record a folder's current listing; None if it was removed."""
        old = self.folders.pop(path, None)
        self.before.setdefault(path, old)
        if old is not None:
            self.guarded.discard(path)
            self.git.discard(path)
            for name, _ in old.controls:
                self.controls.pop(name, None)
        if listed is None:
            self.closed.discard(path)
            return
        self.folders[path] = listed
        if listed.role in ("hooks", "named"):
            self.guarded.add(path)
        if listed.is_git:
            self.git.add(path)
        self.controls.update(listed.controls)


class Tree:
    """The folders below the roots; only changed ones are listed again.

    The kernel reports changed folders (`FolderWatch`), so that the cost of a scan depends on the number of changes.
    Where it cannot, each folder's ctime is checked, which nothing in a sandbox can set.

    Args:
        workspace: Defines which names are protected.
        limit: Maximum number of folders to scan.

    Attributes:
        slow_reason: Why each scan checks all folders, as part of a sentence; empty if only changed folders are scanned.
    """

    def __init__(self, workspace: Workspace, limit: int) -> None:
        self._workspace = workspace
        self._limit = limit
        roots = [str(root) for root in workspace.roots]
        self._roots = tuple(root for root in roots if not any(root.startswith(f"{other}/") for other in roots))
        self._found = Found()
        self._led: Mapping[str, Kind] = {}
        self._left_closed: Collection[str] | None = None
        self._watch: FolderWatch | None = None
        self._mounts: tuple[str, ...] = ()
        self._is_complete = False
        self._has_forgotten = False
        self.slow_reason = ""
        self._by_role = {
            "plain": self._list_plain,
            "git": self._list_git,
            "git_holding": self._list_git_containers,
            "hooks": self._list_hooks,
            "named": self._list_named,
            "steps": self._list_steps,
        }

    def scan(self, led: Mapping[str, Kind], left_closed: Collection[str] | None = None) -> Found:
        """Find all control files.

        Args:
            led: Further files and folders that git runs or obeys, by path.
            left_closed: Unreadable folders to leave as they are; others are made readable for their owner, because git
                can enter a folder that cannot be listed. None leaves all of them.
        Raises:
            TooLargeError: If there are more folders than the limit.
        """
        found = self._found
        self._left_closed = left_closed
        changed = self._read_changed()
        other_roles = self._led.keys() ^ led.keys()
        self._led = dict(led)
        is_complete = self._is_complete
        self._is_complete = False
        if is_complete and changed is not None:
            self._update_changed({*changed, *found.closed, *other_roles.intersection(found.folders)})
        else:
            self._walk_all()
        self._is_complete = True
        self._has_forgotten = False
        return replace(found, controls=self._with_led(led)) if led else found

    @property
    def found(self) -> Found:
        """The result of the last scan, even if it ended with `TooLargeError`."""
        return replace(self._found, controls=self._with_led(self._led))

    def set_baseline(self) -> None:
        """Make the current state the one that later scans are compared with."""
        self._found.before.clear()

    def invalidate(self) -> None:
        """Force the next scan to list all folders again, because the set of protected names changed."""
        self._is_complete = False
        self._has_forgotten = True

    def close(self) -> None:
        """Stop watching folders; safe to call twice."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        self._is_complete = False

    def _with_led(self, led: Mapping[str, Kind]) -> dict[str, Kind]:
        controls = dict(self._found.controls)
        for path, kind in led.items():
            is_there = path not in self._found.folders and os.path.lexists(path)
            if is_there and (kind != "link" or path not in controls):
                controls[path] = kind
        return controls

    # -- what has changed ---------------------------------------------------------------------------------------

    def _read_changed(self) -> set[str] | None:
        """Return the folders that may have changed; None if any may have."""
        mounts, is_local = read_mounts(self._roots)
        if not is_local:
            self._disable_watching("its file system does not report changes")
            return None
        has_moved = mounts != self._mounts
        self._mounts = mounts
        if self._watch is None:
            self._start_watching()
            return None
        changed = self._watch.read_changed()
        if changed is None or has_moved:
            return None
        for root in self._roots:
            try:
                is_same = os.lstat(root).st_ino == self._found.get_inode(root)
            except OSError:
                is_same = False
            if not is_same:
                return None
        return changed

    def _start_watching(self) -> None:
        if self.slow_reason:
            return  # tried only once, not before each command
        try:
            self._watch = FolderWatch()
        except WatchUnavailableError as exc:
            self._disable_watching(str(exc))

    def _disable_watching(self, reason: str) -> None:
        self.close()
        self.slow_reason = reason

    def _watch_folder(self, path: str) -> None:
        if self._watch is None:
            return
        try:
            if not self._watch.add(path):
                self._found.closed.add(path)  # checked in each scan
        except WatchUnavailableError as exc:
            self._disable_watching(str(exc))

    def _update_changed(self, changed: set[str]) -> None:
        """List changed folders again and scan new ones."""
        found = self._found
        ahead: list[tuple[str, str]] = []
        for path in sorted(changed):
            known = found.folders.get(path)
            if known is None:
                continue
            listed = self._relist_folder(path, known.given, None)
            if listed is None:
                self._remove_folder(path)
                continue
            given = dict(listed.folders)
            for child, role in known.folders:
                if given.get(child) != role or self._is_other(child):
                    self._remove_folder(child)
            ahead += [(child, role) for child, role in listed.folders if child not in found.folders]
        self._walk_folders(ahead, is_fresh=True, room=self._limit - len(found.folders))

    def _is_other(self, path: str) -> bool:
        try:
            return os.lstat(path).st_ino != self._found.get_inode(path)
        except OSError:
            return True

    def _remove_folder(self, path: str) -> None:
        """Record that a folder was removed with all of its content."""
        ahead = [path]
        while ahead:
            each = ahead.pop()
            listed = self._found.folders.get(each)
            if listed is None:
                continue
            ahead += [child for child, _ in listed.folders]
            self._found.update_folder(each, None)
            if self._watch is not None:
                self._watch.remove(each)

    def _walk_all(self) -> None:
        """Check all folders and list those again whose ctime has changed."""
        there = self._walk_folders(
            [(root, "plain") for root in self._roots], is_fresh=self._has_forgotten, room=self._limit
        )
        for path in [path for path in self._found.folders if path not in there]:
            self._found.update_folder(path, None)
            if self._watch is not None:
                self._watch.remove(path)

    def _walk_folders(self, ahead: list[tuple[str, str]], *, is_fresh: bool, room: int) -> set[str]:
        """Scan folders recursively.

        Args:
            is_fresh: True to list all of them again, even unchanged ones.
            room: Maximum number of folders.
        Returns:
            The paths of the folders that exist.
        """
        found = self._found
        there: set[str] = set()
        # Scan git's and protected folders first, then breadth-first: a program that creates very many folders to reach
        # the limit can hide nothing in these or near the roots.
        waiting = deque(ahead)
        while waiting:
            path, given = waiting.popleft()
            listed = self._relist_folder(path, given, None if is_fresh else found.folders.get(path))
            if listed is None:
                continue
            there.add(path)
            if len(there) > room:
                raise TooLargeError
            waiting.extend(each for each in listed.folders if each[1] == "plain")
            waiting.extendleft(each for each in listed.folders if each[1] != "plain")
        return there

    def _relist_folder(self, path: str, given: str, known: Listed | None) -> Listed | None:
        """List a folder and watch it for later changes.

        Args:
            given: The role that its parent folder implies; a redirect of git to it takes precedence.
            known: Its previous listing if that may be reused.
        """
        self._found.closed.discard(path)
        self._watch_folder(path)
        listed = self._list_folder(path, "hooks" if path in self._led else given, known)
        if listed is not None and listed is not known:
            listed.given = given
            self._found.update_folder(path, listed)
        return listed

    def _find_root(self, path: str) -> str:
        return next(root for root in self._roots if path == root or path.startswith(f"{root}/"))

    def _list_folder(self, path: str, role: str, known: Listed | None) -> Listed | None:
        now = time.time_ns()
        try:
            status = os.lstat(path)
        except OSError:
            return None  # it was removed, or the parent folder is not accessible
        inode = status.st_ino
        ctime_ns = status.st_ctime_ns
        try:
            if known is not None and known.ctime_ns == ctime_ns and known.inode == inode and known.role == role:
                return known
            if not stat.S_ISDIR(status.st_mode):
                return None
            kinds = self._read_names(path)
        except FileNotFoundError:
            return None
        except OSError:
            self._found.closed.add(path)
            kinds = {}
            ctime_ns = 0
        listed = Listed(role, inode, ctime_ns if ctime_ns + _UNCERTAIN_NS < now else 0)
        self._by_role[role](path, kinds, listed)
        return listed

    def _read_names(self, path: str) -> dict[str, bool]:
        """Return the names in a folder, and for each whether it is a folder."""
        try:
            return _scan_folder(path)
        except PermissionError:
            if self._left_closed is None or path in self._left_closed:
                raise
            folder = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.chmod(f"/proc/self/fd/{folder}", stat.S_IMODE(os.fstat(folder).st_mode) | stat.S_IRUSR)  # noqa: PTH101
            finally:
                os.close(folder)
            return _scan_folder(path)

    def _list_plain(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List an ordinary workspace folder."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git_files(path, kinds, listed)
        root = self._find_root(path)
        parts = path[len(root) + 1 :].split("/") if path != root else []
        is_package = not _DEPENDENCIES.isdisjoint(parts)
        named = set() if is_package else self._find_protected(parts, kinds)
        ways = {} if is_package else self._find_way_links(path, parts, kinds)
        for name, is_folder in kinds.items():
            below = f"{path}/{name}"
            if name == ".git":
                _add_entry(below, "redirect", is_folder, "git", listed)
            elif listed.is_git and name == "hooks":
                _add_entry(below, "hook", is_folder, "hooks", listed)
            elif listed.is_git and name in _STEPS:
                _add_entry(below, "link", is_folder, "steps", listed)
            elif name in named and not ASIDE.search(name):
                _add_entry(below, "named", is_folder, "named", listed)
            elif is_folder:
                listed.folders.append((below, "plain"))
            elif name in ways:
                listed.controls.append((below, "way"))

    def list_protected_below(self, path: str) -> list[str]:
        """Return the protected paths below a link of kind `way`."""
        root = self._find_root(path)
        *folder, name = path[len(root) + 1 :].split("/")
        return self._workspace.beginnings_among(folder, (name,)).get(name, [])

    def _find_way_links(self, path: str, parts: Sequence[str], kinds: dict[str, bool]) -> Collection[str]:
        files = (name for name, is_folder in kinds.items() if not is_folder)
        found = self._workspace.beginnings_among(parts, files)
        return [name for name in found if os.path.islink(f"{path}/{name}")]  # noqa: PTH114

    def _find_protected(self, parts: Sequence[str], kinds: dict[str, bool]) -> set[str]:
        subfolders = {name for name, is_folder in kinds.items() if is_folder}
        return set(self._workspace.protected_among(parts, kinds, subfolders))

    def _list_git(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List a `.git` folder, or a repository below its `modules` or `worktrees`: only what git runs or obeys."""
        listed.is_git = is_git_folder(path, kinds)
        self._list_git_files(path, kinds, listed)
        for name in _IN_GIT:
            if name in _RUN_BY_GIT and name in kinds:
                _add_entry(f"{path}/{name}", "hook", kinds[name], "hooks", listed)
            elif kinds.get(name):
                listed.folders.append((f"{path}/{name}", "git_holding"))
        for name in _STEPS:
            if name in kinds:
                _add_entry(f"{path}/{name}", "link", kinds[name], "steps", listed)

    def _list_git_containers(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List `modules` or `worktrees`; the names of repositories in them may contain slashes."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git(path, kinds, listed)
        else:
            listed.folders += [(f"{path}/{name}", "git_holding") for name, is_folder in kinds.items() if is_folder]

    def _list_steps(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List a folder of an interrupted git operation; it may contain a repository."""
        todo = _STEPS[path.rpartition("/")[2]]
        for name, is_folder in kinds.items():
            if is_folder:
                listed.folders.append((f"{path}/{name}", "plain"))
            elif name in todo:
                listed.controls.append((f"{path}/{name}", "steps"))

    def _list_hooks(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List a folder from which git runs programs."""
        for name, is_folder in kinds.items():
            if not name.endswith(".sample") and not ASIDE.search(name):
                _add_entry(f"{path}/{name}", "hook", is_folder, "hooks", listed)
            elif is_folder:
                listed.folders.append((f"{path}/{name}", "plain"))  # not run by git, but may hold a repository

    def _list_named(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """List a folder that is protected with all of its content; repositories in it are handled as usual."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git_files(path, kinds, listed)
        known = {name for name, _ in _GIT_FILES} | {"hooks"} if listed.is_git else set()
        for name, is_folder in kinds.items():
            below = f"{path}/{name}"
            if name == ".git":
                _add_entry(below, "redirect", is_folder, "git", listed)
            elif listed.is_git and name == "hooks":
                _add_entry(below, "hook", is_folder, "hooks", listed)
            elif listed.is_git and name in _STEPS:
                _add_entry(below, "link", is_folder, "steps", listed)
            elif ASIDE.search(name):
                if is_folder:
                    listed.folders.append((below, "plain"))
            elif name not in known:
                _add_entry(below, "named", is_folder, "named", listed)

    @staticmethod
    def _list_git_files(path: str, kinds: dict[str, bool], listed: Listed) -> None:
        listed.controls += [(f"{path}/{name}", kind) for name, kind in _GIT_FILES if kinds.get(name) is False]


def _scan_folder(path: str) -> dict[str, bool]:
    with os.scandir(path) as entries:
        return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}


def _add_entry(path: str, kind: Kind, is_folder: bool, role: str, listed: Listed) -> None:
    if is_folder:
        listed.folders.append((path, role))
    else:
        listed.controls.append((path, kind))
