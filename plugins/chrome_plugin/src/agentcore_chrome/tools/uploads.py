"""Reading workspace files and artifacts for upload into a page."""

import asyncio
import mimetypes
from collections.abc import Sequence
from pathlib import PurePath
from typing import TypedDict

from agentcore.api import ToolContext, ToolError, Workspace

UPLOAD_BYTES = 48 * 1024 * 1024
"""Limit of all files of one call together; the driver accepts at most 50 MB at once."""

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
