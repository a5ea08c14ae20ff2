"""`file_delete`: remove a file, a link, or a folder with its content."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.text.formatting import show_count
from agentcore_fs_tools.transfer.targets import Target
from agentcore_fs_tools.transfer.trash import move_to_trash

DEPTH_LIMIT = 400
"""Maximum nesting of folders that are open at the same time: each uses a descriptor."""

_COUNTED_ENTRIES = 1_000
"""Maximum number of counted entries of a folder that is refused."""

_LISTED_FAILURES = 20


@dataclass(slots=True)
class Removal:
    """A removal in progress, and its result so far.

    Args:
        is_cancelled: Checked before each entry.
        count: Number of removed entries.
        failed: Entries that could not be removed, each with the error.
    """

    is_cancelled: Callable[[], bool]
    count: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    _deep: list[bytes] = field(default_factory=list)

    def remove(self, parent: Workspace.Folder, name: bytes, shown: str, *, is_folder: bool) -> None:
        """Remove an entry and everything below it at any depth; failures are recorded and the rest is removed."""
        self._remove_entry(parent, name, shown, parent, is_folder=is_folder, depth=0)

    def _remove_entry(
        self, parent: Workspace.Folder, name: bytes, shown: str, top: Workspace.Folder, *, is_folder: bool, depth: int
    ) -> None:
        if self.is_cancelled():
            raise ToolError("cancelled", f"Deleting was cancelled after {show_count(self.count, 'entry', 'entries')}.")
        known = len(self.failed)
        try:
            if is_folder:
                self._empty_folder(parent, name, shown, top, depth)
                if len(self.failed) > known:
                    return  # it contains entries that are recorded already
                parent.remove_folder(name)
            else:
                parent.remove_file(name)
        except FileNotFoundError:
            return  # it was removed by someone else, which is the goal
        except OSError as exc:
            self.failed.append((shown, exc.strerror or type(exc).__name__))
        else:
            self.count += 1

    def _empty_folder(
        self, parent: Workspace.Folder, name: bytes, shown: str, top: Workspace.Folder, depth: int
    ) -> None:
        with parent.open_folder(name) as folder:
            here = folder if depth == 0 else top
            for entry in folder.entries():
                below = f"{shown}/{Workspace.show_name(entry.name)}"
                if entry.kind == "directory" and depth >= DEPTH_LIMIT:
                    self._move_to_top(folder, entry.name, here)
                else:
                    self._remove_entry(
                        folder, entry.name, below, here, is_folder=entry.kind == "directory", depth=depth + 1
                    )
            while depth == 0 and self._deep:
                lifted = self._deep.pop()
                self._remove_entry(
                    folder, lifted, f"{shown}/{Workspace.show_name(lifted)}", folder, is_folder=True, depth=1
                )

    def _move_to_top(self, folder: Workspace.Folder, name: bytes, top: Workspace.Folder) -> None:
        """Move a folder that is nested too deeply to the top of the removed tree, to be removed from there."""
        lifted = b".agentcore-%s.tmp" % os.urandom(8).hex().encode("ascii")
        folder.rename(name, top, lifted, overwrite=False)
        self._deep.append(lifted)


def delete_path(
    workspace: Workspace, target: Target, *, recursive: bool, trash: bool, is_cancelled: Callable[[], bool]
) -> ToolResult:
    """Delete a target, or move it to the bin.

    Raises:
        ToolError: `directory_not_empty`, `delete_incomplete` (some entries could not be removed), …
    """
    refuse_full_folder(workspace, target, recursive=recursive)
    facts: dict[str, object] = {"path": target.shown, "trashed": trash}
    parent, place = workspace.open_parent(target.place)
    with parent, workspace.errors(target.place):
        if trash:
            move_to_trash(parent, place.name, target.shown)
            return ToolResult(f"Moved {target.shown} to the bin.", facts | {"count": 1})
        if not (target.is_folder and recursive):
            parent.remove_folder(place.name) if target.is_folder else parent.remove_file(place.name)
            return ToolResult(f"Deleted {target.shown}.", facts | {"count": 1})
        removal = Removal(is_cancelled)
        removal.remove(parent, place.name, target.shown, is_folder=True)
    if removal.failed:
        raise _delete_incomplete(target, removal)
    count = show_count(removal.count, "entry", "entries")
    return ToolResult(f"Deleted {target.shown} with all in it ({count}).", facts | {"count": removal.count})


def refuse_full_folder(workspace: Workspace, target: Target, *, recursive: bool) -> None:
    """Refuse to delete a folder that is not empty unless `recursive` is set.

    Raises:
        ToolError: `directory_not_empty`.
    """
    if not target.is_folder or recursive:
        return
    with workspace.open_folder(target.place) as folder, workspace.errors(target.place):
        count = len(folder.entries(_COUNTED_ENTRIES))
    if count:
        at_least = "at least " if count == _COUNTED_ENTRIES else ""
        message = (
            f"The folder {target.shown!r} is not empty ({at_least}{show_count(count, 'entry', 'entries')}); "
            "set `recursive` to delete it with all that is in it."
        )
        raise ToolError("directory_not_empty", message, path=target.shown, count=count)


def _delete_incomplete(target: Target, removal: Removal) -> ToolError:
    listed = [{"path": path, "reason": reason} for path, reason in removal.failed[:_LISTED_FAILURES]]
    first = "; ".join(f"{path!r}: {reason}" for path, reason in removal.failed[:3])
    message = (
        f"{show_count(removal.count, 'entry', 'entries')} of {target.shown!r} were deleted, "
        f"{len(removal.failed)} could not be: {first}."
    )
    return ToolError("delete_incomplete", message, path=target.shown, deleted=removal.count, failed=listed)
