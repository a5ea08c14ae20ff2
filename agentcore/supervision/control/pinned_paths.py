"""`PinnedPaths`: what the kernel keeps a command from changing and from moving away."""

import os
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentcore.supervision.control.entry import Entry
from agentcore.supervision.control.limits import HELD_PATHS
from agentcore.supervision.control.tree import Found


@dataclass(frozen=True, slots=True)
class PinnedPaths:
    """Mounts for the sandbox.

    Args:
        pinned: Folders that cannot be renamed or removed, their content can be changed: what is below stays in place.
        fixed: Files and folders that can be neither changed nor replaced, each with its inode.
        limit: That there are more control files than can be pinned, as a sentence; empty: all are.
    """

    pinned: frozenset[str]
    fixed: dict[str, int]
    limit: str = ""

    def mounts(self) -> Iterator[tuple[str, bool]]:
        """Each path that is mounted on itself, and whether it can be written; outer ones first."""
        for path in sorted(self.pinned | self.fixed.keys(), key=lambda path: path.split("/")):
            yield path, path not in self.fixed

    def is_fixed(self, path: str) -> bool:
        """Whether a path cannot be changed."""
        return is_below(path, self.fixed)

    def covers(self, path: str, entry: Entry, found: Found) -> bool:
        """Whether a file was out of reach of the sandbox: what changed it came from outside."""
        holder = next((above for above in walk_upwards(path) if above in self.fixed), None)
        if holder is None or entry.links != 1:
            return False
        return self.fixed[holder] == (entry.inode if holder == path else found.get_inode(holder))

    def restrict_to_unmovable(self, roots: Collection[str], others: Sequence["PinnedPaths"]) -> "PinnedPaths":
        """What of it no other program can move away or replace by a link while it is mounted.

        Args:
            roots: The workspace roots.
            others: What is kept from the programs that run; none: all of it stays as it is.
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
    """Plan what to hold.

    Args:
        guarded: Folders of which all that is in them is a control file.
        entries: The control files.
        git: The folders of all repositories.
        roots: The workspace roots.
        is_made: Whether a path is in a folder that confined programs have made, which they may move and remove.
    """
    pinned: set[str] = set()
    fixed: dict[str, int] = {}
    left_out = 0
    for path in sorted({*guarded, *entries}):
        entry = entries.get(path)
        if entry is not None and entry.kind in ("link", "way", "steps"):
            continue  # the whole of what a link leads to would be held, and git replaces its list of steps
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
    """Whether a path is one of these, or lies below one."""
    return any(above in folders for above in walk_upwards(path))


def walk_upwards(path: str) -> Iterator[str]:
    """A path, and each folder above it."""
    while len(path) > 1:
        yield path
        path = os.path.dirname(path)  # noqa: PTH120


def _real_target(path: str, entry: Entry | None, roots: Collection[str]) -> str | None:
    """What is to be mounted for a control file: itself, or what a link inside the roots leads to."""
    if entry is not None and entry.digest.startswith("link:"):
        path = os.path.realpath(path)
        if not is_below(path, roots):
            return None
    return path if os.path.lexists(path) and path not in roots else None


def _walk_up_to_root(path: str, roots: Collection[str]) -> Iterator[str]:
    """The folders below a root down to this one."""
    for above in walk_upwards(path):
        if above in roots:
            return
        yield above
