"""`file_move`: rename, or copy and delete across file systems."""

import errno
from collections.abc import Callable

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.transfer.copying import Copy
from agentcore_fs_tools.transfer.deleting import Removal
from agentcore_fs_tools.transfer.targets import Target


def move_path(
    workspace: Workspace, source: Target, target: Target, *, overwrite: bool, is_cancelled: Callable[[], bool]
) -> ToolResult:
    """Move a file, link or folder to another path; missing parent folders are created.

    Raises:
        ToolError: `directory_not_empty`, `move_incomplete` (copied, not all deleted), and those of reading and writing.
    """
    parent, _ = workspace.open_parent(source.place)
    with parent:
        to, place = workspace.open_parent(target.place, create=True)
        with to, workspace.errors(target.place):
            try:
                parent.rename(source.place.name, to, place.name, overwrite=overwrite)
            except OSError as exc:
                if exc.errno != errno.EXDEV:
                    raise
                _move_across(workspace, parent, source, to, place.name, overwrite=overwrite, is_cancelled=is_cancelled)
    facts = {"source": source.shown, "destination": target.shown, "overwrote": target.status is not None}
    return ToolResult(f"Moved {source.shown} to {target.shown}.", facts)


def _move_across(
    workspace: Workspace,
    parent: Workspace.Folder,
    source: Target,
    to: Workspace.Folder,
    name: bytes,
    *,
    overwrite: bool,
    is_cancelled: Callable[[], bool],
) -> None:
    progress = Copy(workspace, is_cancelled)
    progress.copy(parent, source, to, name, overwrite=overwrite)
    if progress.skipped:
        Removal(lambda: False).remove(to, name, "", is_folder=True)
        message = f"{source.shown!r} holds FIFOs, sockets or devices, which cannot go to another file system."
        raise ToolError("not_a_file", message, path=source.shown)
    removal = Removal(lambda: False)  # not cancellable: leaving half of the source would be worse than finishing
    removal.remove(parent, source.place.name, source.shown, is_folder=source.is_folder)
    if removal.failed:
        path, reason = removal.failed[0]
        message = (
            f"{source.shown!r} was copied, but {len(removal.failed)} of its entries could not be deleted afterwards "
            f"({path!r}: {reason}). Delete the rest of it with file_delete."
        )
        raise ToolError("move_incomplete", message, path=source.shown, failed=len(removal.failed))
