"""Files of the workspace on their way into a page."""

import mimetypes
from collections.abc import Sequence
from pathlib import PurePath
from typing import TypedDict

from agentcore.api import ToolError, Workspace

UPLOAD_BYTES = 48 * 1024 * 1024
"""Bound of all files of one call together; the driver takes no more than 50 MB at once."""


class Upload(TypedDict):
    """A file as the driver takes it."""

    name: str
    mimeType: str
    buffer: bytes


def read_uploads(workspace: Workspace, paths: Sequence[str]) -> list[Upload]:
    """Read files inside the roots.

    Raises:
        ToolError: `file_too_large`, and those of reading in the workspace.
    """
    files: list[Upload] = []
    left = UPLOAD_BYTES
    for path in paths:
        with workspace.open_file(workspace.locate(path)) as file:
            data = file.read(left + 1)
        left -= len(data)
        if left < 0:
            raise ToolError(
                "file_too_large", f"the files have more than {UPLOAD_BYTES:,} bytes together", limit_bytes=UPLOAD_BYTES
            )
        name = PurePath(path).name
        files.append(
            {"name": name, "mimeType": mimetypes.guess_type(name)[0] or "application/octet-stream", "buffer": data}
        )
    return files
