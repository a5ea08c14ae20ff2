"""Text of documents, for tools that run in a thread: it is extracted in a separate process."""

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError

from agentcore.api import DocumentReader, DocumentText, ToolError, Workspace
from agentcore_fs_tools.text.formatting import show_size

DOCUMENT_LIMIT_BYTES = 64 << 20
"""Larger documents are refused."""

_POLL_S = 0.2  # maximum delay until a cancelled call stops waiting


class Documents:
    """Reads documents of the workspace. Create it in the event loop.

    Args:
        workspace: The workspace in whose folder the reading process runs.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._reader = DocumentReader()
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        """Stop reading; safe to call twice."""
        await self._reader.close()

    def read(self, file: Workspace.OpenFile, shown: str, is_cancelled: Callable[[], bool]) -> DocumentText:
        """Return the text of a document; call it in a worker thread.

        Raises:
            ToolError: `file_too_large`; `binary_file`: it has no text, or cannot be read; `cancelled`.
        """
        if file.size_bytes > DOCUMENT_LIMIT_BYTES:
            size = show_size(file.size_bytes)
            limit = show_size(DOCUMENT_LIMIT_BYTES)
            message = f"The document {shown!r} has {size}, more than {limit}; read it with a program."
            raise ToolError("file_too_large", message, path=shown, size_bytes=file.size_bytes)
        found = self._extract(file.read(DOCUMENT_LIMIT_BYTES), shown, is_cancelled)
        if not found.text:
            raise ToolError("binary_file", f"{shown!r}: {found.notice}", path=shown, size_bytes=file.size_bytes)
        return found

    def _extract(self, body: bytes, shown: str, is_cancelled: Callable[[], bool]) -> DocumentText:
        reading = asyncio.run_coroutine_threadsafe(self._reader.read(body, self._workspace, shown), self._loop)
        try:
            while True:
                try:
                    return reading.result(_POLL_S)
                except TimeoutError:
                    if is_cancelled():
                        raise ToolError("cancelled", f"Reading {shown!r} was cancelled.") from None
        except CancelledError:  # the module stops
            raise ToolError("cancelled", f"Reading {shown!r} was cancelled.") from None
        finally:
            reading.cancel()
