"""The part of each machine in `copy_between_hosts`: read and write files in its own workspace."""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.text.formatting import show_size
from agentcore_fs_tools.transfer.between_hosts.incoming import Incoming, copy_lost
from agentcore_fs_tools.transfer.between_hosts.messages import (
    AskSource,
    AskTarget,
    ChunkDigest,
    Finish,
    Nothing,
    ReadChunk,
    Receive,
    Received,
    SourceFacts,
    TargetFacts,
    WriteChunk,
    read_question,
)

_INCOMING = 4
"""Maximum number of files that arrive at the same time."""

_CLOSE_SECONDS = 2.0

Answer = tuple[Mapping[str, Any], bytes | None]


class CopyingSide:
    """Answers the requests of `copy_between_hosts`.

    Args:
        workspace: The workspace of this machine.
        limit_bytes: Returns the maximum size of a file.
        refuse_unless_writable: Raises if the workspace is read-only.
    """

    def __init__(
        self, workspace: Workspace, limit_bytes: Callable[[], int], refuse_unless_writable: Callable[[], None]
    ) -> None:
        self._workspace = workspace
        self._limit_bytes = limit_bytes
        self._refuse_unless_writable = refuse_unless_writable
        self._incoming: dict[str, Incoming] = {}

    async def close(self) -> None:
        """Abort incoming copies, waiting at most `_CLOSE_SECONDS`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await asyncio.gather(*(each.abort() for each in self._incoming.values()))

    async def answer_request(self, request: Mapping[str, Any], data: bytes | None) -> Answer:
        """Handle one request and return the answer with the bytes of a chunk, if any.

        Raises:
            ToolError: Why the request cannot be handled.
        """
        asked = read_question(request)
        match asked:
            case AskSource():
                return (await asyncio.to_thread(self._describe_source, asked)).to_json(), None
            case AskTarget():
                return (await asyncio.to_thread(self._describe_target, asked)).to_json(), None
            case ReadChunk():
                chunk = await asyncio.to_thread(self._read_chunk, asked)
                return ChunkDigest(sha256=hashlib.sha256(chunk).hexdigest()).to_json(), chunk
            case Receive():
                return Received(is_new=await self._receive_file(asked)).to_json(), None
            case WriteChunk():
                await self._get_incoming(asked.transfer).write_chunk(asked.offset, data or b"")
            case Finish():
                await self._get_incoming(asked.transfer).finish(asked.sha256)
        return Nothing().to_json(), None

    # -- as source --------------------------------------------------------------------------------------------

    def _describe_source(self, asked: AskSource) -> SourceFacts:
        place = self._workspace.locate(asked.path)
        with self._workspace.open_file(place) as file:
            status = file.stat
        self._refuse_large(asked.path, status.st_size)
        return SourceFacts(
            path=self._workspace.real_path(place),
            size_bytes=status.st_size,
            mode=stat.S_IMODE(status.st_mode),
            version=_compute_version(status),
            is_protected=self._workspace.is_protected(place),
        )

    def _read_chunk(self, asked: ReadChunk) -> bytes:
        with self._workspace.open_file(self._workspace.locate(asked.path)) as file:
            chunk = file.read(asked.limit_bytes, asked.offset)
            if {_compute_version(file.stat), _compute_version(os.fstat(file.fd))} != {asked.version}:
                message = f"{asked.path!r} was changed while it was copied; nothing is left of the copy. Copy it again."
                raise ToolError("file_changed", message, retryable=True, path=asked.path)
        return chunk

    # -- as target --------------------------------------------------------------------------------------------

    def _describe_target(self, asked: AskTarget) -> TargetFacts:
        self._refuse_unless_writable()
        self._refuse_large(asked.path, asked.size_bytes)
        workspace = self._workspace
        place = self._workspace.locate(asked.path)
        status = workspace.find_status(place)
        if status is not None:
            self._refuse_replacing(place, status, overwrite=asked.overwrite)
        return TargetFacts(
            path=workspace.real_path(place),
            replaced_bytes=None if status is None else status.st_size,
            is_protected=workspace.is_protected(place),
        )

    def _refuse_replacing(self, place: Workspace.Place, status: os.stat_result, *, overwrite: bool) -> None:
        workspace = self._workspace
        shown = self._workspace.show(place)
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(
                "is_a_directory", f"{shown!r} is a folder; give the name of the file in it, too.", path=shown
            )
        if not stat.S_ISREG(status.st_mode):
            raise ToolError("not_a_file", f"{shown!r} is no file that can be replaced.", path=shown)
        if not overwrite:
            message = f"{shown!r} exists already; choose another path, or set `overwrite`."
            raise ToolError("file_exists", message, path=shown)
        workspace.refuse_read_only(place, status)

    async def _receive_file(self, asked: Receive) -> bool:
        """Receive a file and return True if it is new; cancelled, and the copy aborted, if the server disconnects."""
        if asked.transfer in self._incoming or len(self._incoming) >= _INCOMING:
            message = f"{_INCOMING} files arrive here already; try again when one has arrived."
            raise ToolError("too_many_copies", message, retryable=True, limit=_INCOMING)
        # register it before any await: its first chunks may have arrived already
        arriving = self._incoming[asked.transfer] = Incoming(self._workspace, asked)
        try:
            target = AskTarget(path=asked.path, size_bytes=asked.size_bytes, overwrite=asked.overwrite)
            await asyncio.to_thread(self._describe_target, target)
            return await arriving.write_file()
        finally:
            self._incoming.pop(asked.transfer, None)

    def _get_incoming(self, transfer: str) -> Incoming:
        arriving = self._incoming.get(transfer)
        if arriving is None:
            raise copy_lost("it does not arrive any more")
        return arriving

    def _refuse_large(self, path: str, size_bytes: int) -> None:
        if size_bytes > (limit := self._limit_bytes()):
            message = (
                f"{path!r} has {show_size(size_bytes)}, and {show_size(limit)} are the most that is copied between "
                "hosts (setting `between_hosts_mb` of fs_tools, on either side)."
            )
            raise ToolError("file_too_large", message, path=path, size_bytes=size_bytes, limit_bytes=limit)


def _compute_version(status: os.stat_result) -> str:
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
