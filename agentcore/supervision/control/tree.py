"""`Tree`: finds the control files below folders, quickly also in large trees that have hardly changed."""

import os
import stat
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agentcore.files.workspace import Workspace
from agentcore.supervision.control.folder_watch import FolderWatch, WatchUnavailableError, read_mounts
from agentcore.supervision.control.names import ASIDE, is_git_folder

Kind = Literal["hook", "config", "redirect", "named", "link", "way", "steps"]
"""`hook`: git runs it. `config`: git's, whose keys count. `redirect`: leads git elsewhere. `named`: by its name.
`link`: on the way to one of these. `way`: a link whose name is on the way to files that are protected by theirs.
`steps`: what git has still to do of a rebase, which may be to run a program."""

_UNCERTAIN_NS = 2_500_000_000
"""A folder that changed so short a time before it was listed may have changed again at the same time stamp; the
coarsest file systems count in steps of two seconds."""
_DEPENDENCIES = frozenset(("node_modules", "site-packages"))
"""Folders of packages: nobody opens them in an editor, and packages bring files of such names."""
_IN_GIT = ("hooks", "modules", "worktrees", "remotes", "branches")
_RUN_BY_GIT = frozenset(("hooks", "remotes", "branches"))
"""`remotes` and `branches` hold addresses in the old way; git obeys them."""
_STEPS: dict[str, tuple[str, ...]] = {"rebase-merge": ("git-rebase-todo",), "sequencer": ("todo",)}
"""Folders of git's for work that has stopped half-way, and the files in them that say how it goes on."""
_GIT_FILES: tuple[tuple[str, Kind], ...] = (
    ("config", "config"), ("config.worktree", "config"), ("commondir", "redirect"),
)  # fmt: skip


class TooLargeError(Exception):
    """The tree has more folders than are looked at."""


class Listed:
    """A folder as it was listed; the same object for as long as it has not changed.

    Attributes:
        role: `plain`: it holds what people work on; else what kind of control files it holds.
        given: Its role by the folder that it is in.
        inode: Its inode.
        ctime_ns: When it last changed; 0: too short a time before it was listed to rely on that.
        folders: The folders in it that are looked at, and their roles.
        controls: The control files in it.
        is_git: Whether git takes it for a repository.
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
    """What lies below the roots at one moment. It is the tree's own, and changes with the next look.

    Args:
        folders: Each folder, by its path.
        before: Each folder that is another than at the last `settle`, as it was then; None: it was not there.
        controls: Each control file's path, and what it is.
        guarded: Paths of folders of which all that lies in them is a control file.
        git: Paths of all repositories' folders (`.git`, bare ones, those of submodules and worktrees).
        closed: Folders that could not be listed.
    """

    folders: dict[str, Listed] = field(default_factory=dict)
    before: dict[str, Listed | None] = field(default_factory=dict)
    controls: dict[str, Kind] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)

    def get_inode(self, path: str) -> int | None:
        """The inode of a folder, if it is there."""
        listed = self.folders.get(path)
        return None if listed is None else listed.inode

    def get_previous(self, path: str) -> Listed | None:
        """A folder as it was at the last `settle`."""
        return self.before[path] if path in self.before else self.folders.get(path)

    def update_folder(self, path: str, listed: Listed | None) -> None:
        """Note a folder as it is now; None: it has gone."""
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
    """The folders below the roots, listed again only where they have changed.

    The kernel says which have (`FolderWatch`), so that a look takes as long as the changes are many. Where it cannot,
    each folder's ctime says so, which nothing in a sandbox can set.

    Args:
        workspace: Says which names are protected.
        limit: Folders that are looked at, at most.

    Attributes:
        slow_reason: Why each look goes through all folders, as part of a sentence; empty: it does not.
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
            led: Further files and folders that git runs or obeys, by their paths.
            left_closed: Folders that stay as they are where they cannot be listed; others are opened to their owner,
                for git goes into a folder that shows its names to nobody. None: all stay.
        Raises:
            TooLargeError: There are more folders than the limit.
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
        """What the last look has found, also one that ended with `TooLargeError`."""
        return replace(self._found, controls=self._with_led(self._led))

    def set_baseline(self) -> None:
        """Compare later looks with what there is now."""
        self._found.before.clear()

    def invalidate(self) -> None:
        """List all folders again: other names are protected than before."""
        self._is_complete = False
        self._has_forgotten = True

    def close(self) -> None:
        """Watch no folders any more; safe to call twice."""
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
        """The folders that may have changed; None: all may have."""
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
            return  # it is tried once, and not before each command
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
                self._found.closed.add(path)  # looked at each time
        except WatchUnavailableError as exc:
            self._disable_watching(str(exc))

    def _update_changed(self, changed: set[str]) -> None:
        """List the folders again that have changed, and look through those that are new."""
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
        """Note that a folder has gone, with all that was in it."""
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
        """Look through all folders, and list those again whose ctime says that they have changed."""
        there = self._walk_folders(
            [(root, "plain") for root in self._roots], is_fresh=self._has_forgotten, room=self._limit
        )
        for path in [path for path in self._found.folders if path not in there]:
            self._found.update_folder(path, None)
            if self._watch is not None:
                self._watch.remove(path)

    def _walk_folders(self, ahead: list[tuple[str, str]], *, is_fresh: bool, room: int) -> set[str]:
        """Look through folders and all below them.

        Args:
            is_fresh: Whether all of them are listed anew.
            room: How many there may be.
        Returns:
            The paths of those that are there.
        """
        found = self._found
        there: set[str] = set()
        # what counts and what lies near the roots first: a program that makes very many folders hides nothing there
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
        """List a folder, after which changes of it are noticed.

        Args:
            given: Its role by the folder that it is in; what leads git there counts more.
            known: As it was listed before, where that may still hold.
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
            return None  # it has gone, or the folder above is closed
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
        """The names in a folder, and whether each is a folder."""
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
        """A folder of the workspace."""
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
        """The paths below a link of the kind `way` that are protected."""
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
        """A folder `.git`, or one below its `modules` and `worktrees`: only what git runs or obeys."""
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
        """`modules` or `worktrees`, whose names may have slashes in them."""
        listed.is_git = is_git_folder(path, kinds)
        if listed.is_git:
            self._list_git(path, kinds, listed)
        else:
            listed.folders += [(f"{path}/{name}", "git_holding") for name, is_folder in kinds.items() if is_folder]

    def _list_steps(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """Work of git's that has stopped half-way; a repository may be in it."""
        todo = _STEPS[path.rpartition("/")[2]]
        for name, is_folder in kinds.items():
            if is_folder:
                listed.folders.append((f"{path}/{name}", "plain"))
            elif name in todo:
                listed.controls.append((f"{path}/{name}", "steps"))

    def _list_hooks(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """A folder that git runs programs of."""
        for name, is_folder in kinds.items():
            if not name.endswith(".sample") and not ASIDE.search(name):
                _add_entry(f"{path}/{name}", "hook", is_folder, "hooks", listed)
            elif is_folder:
                listed.folders.append((f"{path}/{name}", "plain"))  # git runs nothing of it; a repository may be in it

    def _list_named(self, path: str, kinds: dict[str, bool], listed: Listed) -> None:
        """A folder that is protected with all in it; repositories in it are what they are elsewhere."""
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
