"""Receive a file in chunks: a thread writes a temporary file, which replaces the target only when it is complete."""

import asyncio
import hashlib
import queue
from collections.abc import Iterator
from contextlib import suppress

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.text.formatting import show_size
from agentcore_fs_tools.transfer.between_hosts.messages import Receive

IDLE_SECONDS = 150.0
"""Time limit for the next chunk: longer than the server waits to read one and to write one together."""

_DROP = object()


class Incoming:
    """One incoming file.

    Args:
        workspace: The workspace to write to.
        asked: The request to receive it.
        idle_s: Time limit for each chunk.
    """

    def __init__(self, workspace: Workspace, asked: Receive, idle_s: float = IDLE_SECONDS) -> None:
        self._workspace = workspace
        self._asked = asked
        self._idle_s = idle_s
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[object] = queue.SimpleQueue()  # one chunk: each is written before the next
        self._wants_more = asyncio.Event()
        self._over = asyncio.Event()
        self._failure: ToolError | None = None
        self._turn = asyncio.Lock()
        self._sent_bytes = 0
        self._hash = hashlib.sha256()
        self._written_bytes = 0

    async def write_file(self) -> bool:
        """Write the file as it arrives, and return True if it is new; if cancelled, the copy is aborted.

        Raises:
            ToolError: Why it cannot be written; `copy_lost`: no more chunks arrived; `copy_corrupted`.
        """
        try:
            return await asyncio.to_thread(self._write_in_thread)
        except asyncio.CancelledError:
            self._queue.put(_DROP)  # the thread cannot be cancelled
            raise
        except ToolError as exc:
            self._failure = exc
            raise
        finally:
            self._over.set()
            self._wants_more.set()

    async def abort(self) -> None:
        """Stop writing, and wait until the partial file is removed."""
        self._queue.put(_DROP)
        await self._over.wait()

    async def write_chunk(self, offset: int, piece: bytes) -> None:
        """Write the next chunk, and return when it is written.

        Raises:
            ToolError: Why it cannot be written.
        """
        async with self._turn:
            await self._wait_for_room()
            if offset != self._sent_bytes or offset + len(piece) > self._asked.size_bytes:
                message = f"this is not the piece that comes next, at {self._sent_bytes:,}"
                raise ToolError("invalid_arguments", message, offset=offset)
            self._sent_bytes += len(piece)
            self._enqueue(piece)
            await self._wait_for_room()

    async def finish(self, sha256: str) -> None:
        """Signal the end of the file, which is put in place if it is complete and matches the digest.

        Raises:
            ToolError: Why writing has ended already.
        """
        async with self._turn:
            await self._wait_for_room()
            self._enqueue(sha256)

    def _enqueue(self, item: object) -> None:
        self._wants_more.clear()
        self._queue.put(item)

    async def _wait_for_room(self) -> None:
        await self._wants_more.wait()
        if self._over.is_set():
            raise self._failure or copy_lost("it has ended")

    # -- in the thread -----------------------------------------------------------------------------------------

    def _write_in_thread(self) -> bool:
        asked = self._asked
        return self._workspace.write_file(
            self._workspace.locate(asked.path),
            self._read_chunks(),
            create_parents=True,
            overwrite=asked.overwrite,
            mode=asked.mode & 0o755,  # no other user may change a file from another machine
        )

    def _read_chunks(self) -> Iterator[bytes]:
        """Yield the chunks as they arrive; on any error here, the workspace removes the partial file."""
        while True:
            with suppress(RuntimeError):  # the loop has ended: no more chunks arrive
                self._loop.call_soon_threadsafe(self._wants_more.set)
            try:
                chunk = self._queue.get(timeout=self._idle_s)
            except queue.Empty:
                raise copy_lost(f"nothing came for {self._idle_s:g} s") from None
            if chunk is _DROP:
                raise copy_lost("the server wants it no more")
            if isinstance(chunk, str):
                self._check_digest(chunk)
                return
            assert isinstance(chunk, bytes)  # noqa: S101 - nothing else is put there
            self._hash.update(chunk)
            self._written_bytes += len(chunk)
            yield chunk

    def _check_digest(self, sha256: str) -> None:
        if self._written_bytes != self._asked.size_bytes or self._hash.hexdigest() != sha256:
            message = (
                f"What arrived of {self._asked.path!r} ({show_size(self._written_bytes)}) is not what was sent; it was "
                "removed. Copy it again."
            )
            raise ToolError("copy_corrupted", message, retryable=True, path=self._asked.path)


def copy_lost(why: str) -> ToolError:
    """Return the error for a copy that was aborted."""
    message = f"The copy was given up ({why}); nothing is left of it. Copy it again."
    return ToolError("copy_lost", message, retryable=True)
