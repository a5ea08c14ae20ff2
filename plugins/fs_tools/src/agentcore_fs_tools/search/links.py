"""Links below a searched folder: searches do not follow them, and say so where they find nothing."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.text.formatting import show_count

_NAMED = 5
_FOLDERS = 20_000


@dataclass(slots=True)
class UnfollowedLinks:
    """Links that a search did not follow, by their paths as shown to callers.

    Args:
        folders: Links to folders of the workspace, which can be searched by themselves.
        files: Links to files of the workspace that were asked for.
        outside: Links that lead out of the workspace.
    """

    folders: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def list_all(self) -> list[str]:
        """Return all of them, sorted."""
        return sorted([*self.folders, *self.files, *self.outside])

    def format_note(self) -> str:
        """Return the line about them; empty if there are none."""
        parts: list[str] = []
        if self.folders:
            which = "it" if len(self.folders) == 1 else "each"
            count = show_count(len(self.folders), "link to a folder", "links to folders")
            parts.append(f"{count}, {_join(self.folders)} (search {which} as `path`)")
        if self.files:
            parts.append(f"{show_count(len(self.files), 'link to a file', 'links to files')}, {_join(self.files)}")
        if self.outside:
            count = show_count(len(self.outside), "link that leads", "links that lead")
            parts.append(f"{count} out of the workspace, {_join(self.outside)}")
        return f"[Not followed: {'; '.join(parts)}.]" if parts else ""


def find_links(
    workspace: Workspace,
    place: Workspace.Place,
    files: Iterable[str],
    is_wanted: Callable[[str], object],
    until: float,
) -> UnfollowedLinks:
    """Find the links in the folders of some files.

    Args:
        workspace: The searched workspace.
        place: The searched folder, by its real path.
        files: Paths below it; the links in their folders, and in all folders above these, are found.
        is_wanted: Tells by its path below `place` whether a link to a file matters.
        until: Time, by `time.monotonic`, at which looking ends.
    """
    links = UnfollowedLinks()
    for way in _list_folders(files):
        if time.monotonic() > until:
            break
        folder_place = place.child(*workspace.locate(way or ".").parts)
        try:
            with workspace.open_folder(folder_place) as folder:
                names = [entry.name for entry in folder.entries() if entry.kind == "symlink"]
        except (OSError, ToolError):  # it vanished, or may not be read
            continue
        for name in names:
            below = Workspace.show_name(name)
            _sort_in(workspace, folder_place.child(name), f"{way}/{below}" if way else below, is_wanted, links)
    return links


def _sort_in(
    workspace: Workspace,
    place: Workspace.Place,
    below: str,
    is_wanted: Callable[[str], object],
    links: UnfollowedLinks,
) -> None:
    shown = workspace.show(place)
    try:
        status = workspace.find_status(place)
    except ToolError as error:
        if error.type == "path_outside_workspace":
            links.outside.append(shown)
        return
    if status is None:  # it leads nowhere
        return
    kind = Workspace.kind_of(status)
    if kind == "directory":
        links.folders.append(shown)
    elif kind == "file" and is_wanted(below):
        links.files.append(shown)


def _list_folders(files: Iterable[str]) -> Iterator[str]:
    """Yield the folders of files and those above them, the highest ones first, at most `_FOLDERS`."""
    found = {""}
    for path in files:
        way = path.rpartition("/")[0]
        while way and way not in found:
            found.add(way)
            way = way.rpartition("/")[0]
        if len(found) > _FOLDERS:
            break
    yield from sorted(found, key=lambda way: (way.count("/") + bool(way), way))


def _join(paths: list[str]) -> str:
    named = ", ".join(map(repr, sorted(paths)[:_NAMED]))
    return f"{named}, …" if len(paths) > _NAMED else named
