"""Finds files in unusual locations that git runs or obeys because its configuration or a link refers to them."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from agentcore.files.git_config import global_config_files
from agentcore.supervision.control_files.control_file_entry import Entry, read_entry
from agentcore.supervision.control_files.pinned_paths import is_below
from agentcore.supervision.control_files.tree import Kind

_LINKS = 40
"""Maximum number of links that the kernel follows in one path (path_resolution(7))."""
_GLOBAL_FILES = 100


class GlobalConfig:
    """The user's and the system's git configuration, which may redirect git to paths in the workspace."""

    def __init__(self) -> None:
        self._begin = global_config_files()
        self._entries: dict[str, Entry] = {}

    def read_files(self) -> dict[str, Entry]:
        """Read each configuration file and those that it includes, at most 100."""
        ahead = list(self._begin)
        found: dict[str, Entry] = {}
        while ahead and len(found) < _GLOBAL_FILES:
            path = ahead.pop()
            entry = None if path in found else read_entry(path, "config", self._entries.get(path))
            if entry is not None:
                found[path] = entry
                ahead += [_normalize_path(name, os.path.dirname(path)) for name in entry.included]  # noqa: PTH120
        self._entries = found
        return found


def find_redirected_paths(
    leading: Mapping[str, Entry],
    everywhere: Mapping[str, Entry],
    there: Mapping[str, Entry],
    roots: Collection[str],
    ways: Callable[[str], Iterable[str]],
) -> dict[str, Kind]:
    """Find files and folders in the roots that git runs or obeys because of redirects.

    Args:
        leading: The control files whose redirects are followed.
        everywhere: Configuration that applies to all repositories.
        there: All current control files, from which the worktrees are determined.
        roots: The workspace roots.
        ways: Returns the protected paths below a link of kind `way`.
    """
    tops = _find_worktrees(there)
    found: dict[str, Kind] = {}
    for path, entry in {**everywhere, **leading}.items():
        folder = os.path.dirname(path)  # noqa: PTH120
        for name in entry.hooks:
            for base in {folder} | {top for top, git in tops if path in everywhere or is_below(git, (folder,))}:
                _follow_links(_normalize_path(name, base), "hook", roots, found)
        for name in entry.included:
            _follow_links(_normalize_path(name, folder), "config", roots, found)
        if entry.kind == "way":
            now = there.get(path)
            if now is None or not now.is_like(entry):
                continue  # the link itself is quarantined; its new target may belong to the user
            for below in filter(None, ways(path)):
                _follow_links(f"{path}/{below}", "hook", roots, found)
        elif entry.digest.startswith("link:") and entry.kind != "redirect":
            _follow_links(path, entry.kind, roots, found)
    return found


def _find_worktrees(there: Mapping[str, Entry]) -> list[tuple[str, str]]:
    """Return each worktree and its git folder."""
    tops = []
    for path, entry in there.items():
        folder, name = os.path.split(path)
        if entry.kind == "config" and folder.endswith("/.git"):
            tops.append((os.path.dirname(folder), folder))  # noqa: PTH120
        elif name == ".git":
            tops += [(folder, git) for git in entry.real_paths]
    return tops


def _normalize_path(name: str, base: str) -> str:
    return os.path.normpath(os.path.join(base, os.path.expanduser(name)))  # noqa: PTH111, PTH118


def _follow_links(path: str, kind: Kind, roots: Collection[str], found: dict[str, Kind]) -> None:
    """Add a path's final target to `found`, and each link on the way as `link`."""
    for _ in range(_LINKS):
        link = next((above for above in _walk_downwards(path) if os.path.islink(above)), None)  # noqa: PTH114
        if link is None:
            break
        if is_below(link, roots):
            found.setdefault(link, "link")
        try:
            target = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120
        except OSError:
            return  # it was changed concurrently: the next scan handles it
        path = os.path.normpath(target + path[len(link) :])
    if is_below(path, roots) and path not in roots and found.get(path) in (None, "link"):
        found[path] = kind


def _walk_downwards(path: str) -> Iterator[str]:
    """Yield each parent folder of a path, outermost first, and the path itself."""
    end = path.find("/", 1)
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path
