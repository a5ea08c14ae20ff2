"""Reading workspace files and artifacts for upload into a page."""

import asyncio
import mimetypes
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TypedDict

from agentcore.api import Folder, ToolContext, ToolError, Workspace

UPLOAD_BYTES = 48 * 1024 * 1024
"""Limit of all files of one call together; the driver accepts at most 50 MB at once."""

_FOLDER_FILES = 1000

ARTIFACT = "artifact:"
"""Prefix of a path that is the id of one of the session's artifacts."""


class Upload(TypedDict):
    """A file as the driver takes it."""

    name: str
    mimeType: str
    buffer: bytes


async def read_uploads(ctx: ToolContext, paths: Sequence[str]) -> list[Upload]:
    """Read files inside the workspace roots, and artifacts (`artifact:ID`).

    Raises:
        ToolError: `file_too_large`, `artifact_not_found`, and those of reading in the workspace.
    """
    files: list[Upload] = []
    left = UPLOAD_BYTES
    for path in paths:
        upload = (
            await _read_artifact(ctx, path, left) if path.startswith(ARTIFACT) else await _read_file(ctx, path, left)
        )
        left -= len(upload["buffer"])
        if left < 0:
            raise ToolError(
                "file_too_large", f"the files have more than {UPLOAD_BYTES:,} bytes together", limit_bytes=UPLOAD_BYTES
            )
        files.append(upload)
    return files


@dataclass(frozen=True, slots=True)
class UploadedFolder:
    """A folder of the workspace, with the files in it by their paths, which begin with its name."""

    name: str
    files: dict[str, bytes]

    def write_to(self, parent: Path) -> Path:
        """Write the folder below another one, and return where it is."""
        for path, data in self.files.items():
            target = parent / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return parent / self.name


async def find_folder(ctx: ToolContext, paths: Sequence[str]) -> UploadedFolder | None:
    """Read the folder that the only path names; None: there are files to upload.

    Raises:
        ToolError: `invalid_arguments`: a folder beside other paths, or an empty one; `file_too_large`, and those of
            reading in the workspace.
    """

    def read() -> UploadedFolder | None:
        places = [ctx.workspace.find_place(path) for path in paths if not path.startswith(ARTIFACT)]
        folders = [place for place in places if stat.S_ISDIR(ctx.workspace.stat(place).st_mode)]
        if not folders:
            return None
        if len(paths) > 1:
            raise ToolError("invalid_arguments", "give one folder alone, or files")
        found = UploadedFolder(PurePath(ctx.workspace.real_path(folders[0])).name, {})
        with ctx.workspace.errors(folders[0]), ctx.workspace.open_folder(folders[0]) as folder:
            _read_folder(folder, found.name, found.files)
        if not found.files:
            raise ToolError("invalid_arguments", f"the folder {paths[0]!r} has no files", path=paths[0])
        return found

    return await asyncio.to_thread(read)


def _read_folder(folder: Folder, path: str, files: dict[str, bytes]) -> None:
    """Add the regular files of a folder and of those below it; links are left out, as they may lead anywhere."""
    for entry in folder.entries():
        inner = f"{path}/{os.fsdecode(entry.name)}"
        if entry.kind == "directory":
            with folder.open_folder(entry.name) as below:
                _read_folder(below, inner, files)
        elif entry.kind == "file":
            left = UPLOAD_BYTES - sum(map(len, files.values()))
            with folder.open_file(entry.name) as file:
                files[inner] = file.read(left + 1)
            if len(files[inner]) > left or len(files) > _FOLDER_FILES:
                raise ToolError(
                    "file_too_large",
                    f"the folder has more than {UPLOAD_BYTES:,} bytes or {_FOLDER_FILES:,} files",
                    limit_bytes=UPLOAD_BYTES,
                )


async def list_upload_paths(ctx: ToolContext, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the real paths of the files, for the approval.

    Raises:
        ToolError: `artifact_not_found`, `path_outside_workspace`.
    """
    for path in paths:
        if path.startswith(ARTIFACT):
            await ctx.artifacts.describe(path.removeprefix(ARTIFACT))
    return await asyncio.to_thread(
        _real_paths, ctx.workspace, [path for path in paths if not path.startswith(ARTIFACT)]
    )


def _real_paths(workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(workspace.real_path(workspace.find_place(path)) for path in paths)


async def _read_file(ctx: ToolContext, path: str, left: int) -> Upload:
    def take() -> bytes:
        with ctx.workspace.open_file(ctx.workspace.find_place(path)) as file:
            return file.read(left + 1)

    data = await asyncio.to_thread(take)
    name = PurePath(path).name
    return {"name": name, "mimeType": mimetypes.guess_type(name)[0] or "application/octet-stream", "buffer": data}


async def _read_artifact(ctx: ToolContext, path: str, left: int) -> Upload:
    link = await ctx.artifacts.describe(path.removeprefix(ARTIFACT))
    file = await ctx.artifacts.open(link.artifact_id)

    def take() -> bytes:
        with file:
            return file.read(left + 1)

    return {"name": link.name, "mimeType": link.mime, "buffer": await asyncio.to_thread(take)}
