"""`list_dir`: list a folder and its subfolders."""

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.read.status import kind_name
from agentcore_fs_tools.text.formatting import fit_lines, show_count, show_size

LISTED_ENTRIES = 2_000
"""Maximum number of listed entries; more are only counted."""

_COUNTED_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class _Item:
    line: str
    facts: dict[str, object]


def list_dir(
    workspace: Workspace, path: str, depth: int, is_cancelled: Callable[[], bool], *, limit_chars: int | None = None
) -> ToolResult:
    """List a folder, sorted by name; with a depth, the content of each subfolder follows its entry.

    Args:
        workspace: The workspace of the folder.
        path: Path of the folder as given by the caller.
        depth: Number of folder levels to list.
        is_cancelled: Checked before each folder.
        limit_chars: Maximum length of the text for a model; None: the caller is a program.
    Raises:
        ToolError: `not_a_directory`, `path_not_found`, …
    """
    place = workspace.find_place(path)
    shown = workspace.show(place)
    items: list[_Item] = []
    count = 0
    with workspace.open_folder(place) as top, workspace.errors(place):
        for item in _walk_folder(top, (), depth, is_cancelled):
            count += 1
            if count <= LISTED_ENTRIES:
                items.append(item)
            elif count >= _COUNTED_ENTRIES:
                break
    facts = {"path": shown, "count": count, "entries": [item.facts for item in items]}
    if not count:
        return ToolResult(f"0 entries in {shown}: the folder is empty.", facts)
    more = "at least " if count >= _COUNTED_ENTRIES else ""
    named = fit_lines([item.line for item in items], limit_chars)
    lines = [f"{more}{show_count(count, 'entry', 'entries')} in {shown}", *named]
    if count > len(named):
        lines.append(f"[{more}{count - len(named):,} entries are left out; list a folder below, or use glob.]")
    return ToolResult("\n".join(lines), facts, truncated=count > len(named))


def _walk_folder(
    folder: Workspace.Folder, way: tuple[bytes, ...], depth: int, is_cancelled: Callable[[], bool]
) -> Iterator[_Item]:
    if is_cancelled():
        raise ToolError("cancelled", "Listing was cancelled.")
    for entry in sorted(folder.entries(), key=lambda entry: entry.name):
        below = (*way, entry.name)
        item = _describe_entry(folder, entry, below)
        if item is None:
            continue
        yield item
        if entry.kind == "directory" and depth > 1:
            try:
                opened = folder.open_folder(entry.name)
            except OSError:  # it vanished, changed its type or is not accessible; its own line stays
                continue
            with opened:
                yield from _walk_folder(opened, below, depth - 1, is_cancelled)


def _describe_entry(folder: Workspace.Folder, entry: Workspace.Entry, way: tuple[bytes, ...]) -> _Item | None:
    """Return the line of an entry; None if it vanished."""
    try:
        status = folder.lstat(entry.name)
        target = folder.readlink(entry.name) if stat.S_ISLNK(status.st_mode) else b""
    except OSError:
        return None
    name = Workspace.show_name(b"/".join(way))
    kind = kind_name(status.st_mode)
    facts: dict[str, object] = {"name": name, "type": kind, "size_bytes": status.st_size}
    if kind == "directory":
        return _Item(f"[DIR]  {name}", facts)
    if kind == "file":
        return _Item(f"[FILE] {name} ({show_size(status.st_size)})", facts)
    if kind == "symlink":
        return _Item(f"[LINK] {name} -> {Workspace.show_name(target)}", facts)
    return _Item(f"[{kind.upper()}] {name}", facts)
