"""`PinnedPaths`: control files that mounts protect from being changed or moved by a command."""

import os
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.control_file_entry import Entry
from agentcore.supervision.control_files.guard_limits import HELD_PATHS
from agentcore.supervision.control_files.tree import Found


@dataclass(frozen=True, slots=True)
class PinnedPaths:
    """The mounts in the sandbox that protect control files.

    Args:
        pinned: Folders that cannot be renamed or removed, although their content can be changed; they hold the fixed
            paths below them in place.
        fixed: Files and folders that can be neither changed nor replaced, each with its inode.
        limit: A sentence that states that there are too many control files to pin all of them; empty if all are pinned.
    """

    pinned: frozenset[str]
    fixed: dict[str, int]
    limit: str = ""

    def mounts(self) -> Iterator[tuple[str, bool]]:
        """Yield each path that is mounted on itself, and True if it is writable; outer paths first."""
        for path in sorted(self.pinned | self.fixed.keys(), key=lambda path: path.split("/")):
            yield path, path not in self.fixed

    def is_fixed(self, path: str) -> bool:
        """Return True if a path cannot be changed."""
        return is_below(path, self.fixed)

    def covers(self, path: str, entry: Entry, found: Found) -> bool:
        """Return True if a file could not be changed from inside the sandbox, so that any change came from outside."""
        holder = next((above for above in walk_upwards(path) if above in self.fixed), None)
        if holder is None or entry.links != 1:
            return False
        return self.fixed[holder] == (entry.inode if holder == path else found.get_inode(holder))

    def restrict_to_unmovable(self, roots: Collection[str], others: Sequence["PinnedPaths"]) -> "PinnedPaths":
        """Return the subset that no other running program can move away, or replace by a link, before it is mounted.

        Args:
            roots: The workspace roots.
            others: The pinned paths of the running programs; if empty, nothing is left out.
        """
        if not others:
            return self
        pinned = self.pinned.intersection(*(other.pinned for other in others))
        steady = pinned | set(roots)
        fixed = {path: inode for path, inode in self.fixed.items() if os.path.dirname(path) in steady}  # noqa: PTH120
        return PinnedPaths(pinned, fixed, self.limit)


def plan_pinned_paths(
    guarded: Collection[str],
    entries: Mapping[str, Entry],
    git: Container[str],
    roots: Collection[str],
    is_made: Callable[[str], bool],
) -> PinnedPaths:
    """Plan which paths to pin, up to `HELD_PATHS`.

    Args:
        guarded: Folders in which every file is a control file.
        entries: The control files.
        git: The git folders of all repositories.
        roots: The workspace roots.
        is_made: Returns True if a path is in a folder that confined programs have created and may move and remove.
    """
    pinned: set[str] = set()
    fixed: dict[str, int] = {}
    left_out = 0
    for path in sorted({*guarded, *entries}):
        entry = entries.get(path)
        if entry is not None and entry.kind in ("link", "way", "steps"):
            continue  # pinning a link would pin all of its target, and git replaces its list of steps
        target = _real_target(path, entry, roots)
        if target is None or is_made(path) or is_below(target, fixed):
            continue
        above = os.path.dirname(target)  # noqa: PTH120
        pins = set(_walk_up_to_root(above, roots)) if above in git else set()
        if len(pinned | pins) + len(fixed) >= HELD_PATHS:
            left_out += 1
            continue
        pinned |= pins
        fixed[target] = os.lstat(target).st_ino
    return PinnedPaths(frozenset(pinned), fixed, _describe_left_out(left_out))


def _describe_left_out(number: int) -> str:
    if not number:
        return ""
    return (
        f"{number} control files of the workspace are not pinned read-only, for at most {HELD_PATHS} paths can be; "
        "what a program makes of these is quarantined afterwards"
    )


def is_below(path: str, folders: Container[str]) -> bool:
    """Return True if a path is one of these folders or below one."""
    return any(above in folders for above in walk_upwards(path))


def walk_upwards(path: str) -> Iterator[str]:
    """Yield a path and each of its parent folders except `/`."""
    while len(path) > 1:
        yield path
        path = os.path.dirname(path)  # noqa: PTH120


def _real_target(path: str, entry: Entry | None, roots: Collection[str]) -> str | None:
    """Return the path to mount for a control file: itself, or its real path in the roots if it is a link."""
    if entry is not None and entry.digest.startswith("link:"):
        path = os.path.realpath(path)
        if not is_below(path, roots):
            return None
    return path if os.path.lexists(path) and path not in roots else None


def _walk_up_to_root(path: str, roots: Collection[str]) -> Iterator[str]:
    """Yield a folder and its parent folders below a root."""
    for above in walk_upwards(path):
        if above in roots:
            return
        yield above
