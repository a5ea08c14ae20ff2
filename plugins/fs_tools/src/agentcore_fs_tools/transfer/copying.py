"""`file_copy`, and copies for moves to another file system: by descriptors only, links stay links."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.text.formatting import show_count, show_size
from agentcore_fs_tools.transfer.deleting import DEPTH_LIMIT, Removal
from agentcore_fs_tools.transfer.targets import Target


@dataclass(slots=True)
class Copy:
    """A copy in progress, and what it copied.

    Args:
        workspace: The workspace of the source, for error messages.
        is_cancelled: Checked before each entry and each block.
        files: Number of copied files.
        folders: Number of created folders.
        links: Number of created links.
        size_bytes: Size of the copied content.
        skipped: Number of entries that are neither files, folders nor links.
    """

    workspace: Workspace
    is_cancelled: Callable[[], bool]
    files: int = 0
    folders: int = 0
    links: int = 0
    size_bytes: int = 0
    skipped: int = 0
    _own: tuple[int, int] | None = None

    def copy(
        self, parent: Workspace.Folder, source: Target, to: Workspace.Folder, name: bytes, *, overwrite: bool
    ) -> None:
        """Copy an entry of an open folder to another one; the copy appears complete or not at all."""
        if not source.is_folder:
            self._copy_entry(parent, source.place, to, name, overwrite=overwrite, is_durable=True)
            return
        temporary = b".agentcore-%s.tmp" % os.urandom(8).hex().encode("ascii")
        try:
            self._copy_folder(parent, source.place, to, temporary, 0)
            to.rename(temporary, to, name, overwrite=overwrite)
        except BaseException:
            Removal(lambda: False).remove(to, temporary, "", is_folder=True)
            raise

    def _copy_entry(
        self,
        parent: Workspace.Folder,
        place: Workspace.Place,
        to: Workspace.Folder,
        name: bytes,
        *,
        overwrite: bool,
        is_durable: bool,
    ) -> None:
        if self.is_cancelled():
            raise ToolError("cancelled", f"Copying was cancelled after {show_count(self.files, 'file')}.")
        with self.workspace.errors(place):
            is_link = Workspace.kind_of(parent.lstat(place.name)) == "symlink"
            target = parent.readlink(place.name) if is_link else b""
            file = None if is_link else parent.open_file(place.name)
        if file is None:
            _make_link(target, to, name, overwrite=overwrite)
            self.links += 1
            return
        with file:
            blocks = self._read_blocks(file)
            to.write_file(name, blocks, like=file.stat, keep_times=True, overwrite=overwrite, is_durable=is_durable)
        self.files += 1

    def _copy_folder(
        self, parent: Workspace.Folder, place: Workspace.Place, to: Workspace.Folder, name: bytes, depth: int
    ) -> None:
        if depth >= DEPTH_LIMIT:
            raise ToolError("tree_too_deep", f"The folder is more than {DEPTH_LIMIT} folders deep.")
        with self.workspace.errors(place):
            source = parent.open_folder(place.name)
        with source:
            to.make_folder(name, 0o700)
            with to.open_folder(name) as target:
                if depth == 0:
                    self._own = _read_identity(target)
                self._copy_entries(source, place, target, depth)
                target.take_over(os.fstat(source.fd))
        self.folders += 1

    def _copy_entries(
        self, source: Workspace.Folder, place: Workspace.Place, target: Workspace.Folder, depth: int
    ) -> None:
        for entry in source.entries():
            below = place.child(entry.name)
            if entry.kind == "directory":
                if not self._is_own(source, entry.name):
                    self._copy_folder(source, below, target, entry.name, depth + 1)
            elif entry.kind == "other":
                self.skipped += 1
            else:
                self._copy_entry(source, below, target, entry.name, overwrite=False, is_durable=False)

    def _is_own(self, folder: Workspace.Folder, name: bytes) -> bool:
        """Return True if a folder is the copy itself, which may be inside the source."""
        status = folder.lstat(name)
        return (status.st_dev, status.st_ino) == self._own

    def _read_blocks(self, file: Workspace.OpenFile) -> Iterator[bytes]:
        for block in file.blocks():
            if self.is_cancelled():
                raise ToolError("cancelled", f"Copying was cancelled after {show_count(self.files, 'file')}.")
            self.size_bytes += len(block)
            yield block


def copy_path(
    workspace: Workspace, source: Target, target: Target, *, overwrite: bool, is_cancelled: Callable[[], bool]
) -> ToolResult:
    """Copy a file, a link, or a folder with its content.

    Raises:
        ToolError: `directory_not_empty` (a folder is not merged into one that is not empty), and those of
            reading and writing.
    """
    progress = Copy(workspace, is_cancelled)
    parent, _ = workspace.open_parent(source.place)
    with parent:
        to, place = workspace.open_parent(target.place, create=True)
        with to, workspace.errors(target.place):
            progress.copy(parent, source, to, place.name, overwrite=overwrite)
    facts = {
        "source": source.shown,
        "destination": target.shown,
        "files": progress.files,
        "folders": progress.folders,
        "links": progress.links,
        "size_bytes": progress.size_bytes,
        "skipped": progress.skipped,
    }
    counted = f"{show_count(progress.files, 'file')}, {show_size(progress.size_bytes)}"
    if progress.links:
        counted += f", {show_count(progress.links, 'link')}"
    note = ""
    if progress.skipped:
        note = f" Left out: {show_count(progress.skipped, 'entry', 'entries')} other than files, folders and links."
    return ToolResult(f"Copied {source.shown} to {target.shown} ({counted}).{note}", facts)


def _make_link(target: bytes, to: Workspace.Folder, name: bytes, *, overwrite: bool) -> None:
    temporary = b".agentcore-%s.tmp" % os.urandom(8).hex().encode("ascii")
    to.make_link(temporary, target)
    try:
        to.rename(temporary, to, name, overwrite=overwrite)
    except BaseException:
        to.remove_file(temporary)
        raise


def _read_identity(folder: Workspace.Folder) -> tuple[int, int]:
    status = os.fstat(folder.fd)
    return status.st_dev, status.st_ino
