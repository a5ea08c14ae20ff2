"""Artifacts: results too large or too binary to return inline, stored as files under a quota."""

import asyncio
import io
import os
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Self, TextIO

import structlog

from agentcore.api import ArtifactLink
from agentcore.documents.media_type import HEAD_BYTES, is_text, media_type
from agentcore.documents.text_lines import ArtifactLines, find_lines, slice_lines
from agentcore.errors import ToolError
from agentcore.files.open_file import OpenFile, regular_file
from agentcore.late_dataclasses import dataclass
from agentcore.store.artifacts.artifact_rows import (
    Artifact,
    charge_of,
    delete_incomplete_rows,
    find_artifact,
    insert_artifact,
    newest_artifacts,
    quota_of,
    remove_artifact,
    too_large,
    used_bytes,
)
from agentcore.store.artifacts.files import (
    ArtifactFiles,
    disk_full,
    is_artifact_id,
    new_artifact_id,
    translate_disk_full,
    unknown_artifact,
)
from agentcore.store.artifacts.message_references import is_artifact_pinned, pin_artifacts, unpin_artifacts
from agentcore.store.artifacts.text_search import QUERY_CHARS, TextMatch, search_lines
from agentcore.store.database.database import Database
from agentcore.store.state.private_file import NewPrivateFile

log = structlog.get_logger(__name__)

QUOTA_BYTES = 1024**3
"""Quota of the user's artifacts; the oldest are evicted for new ones.

Clients, mounted servers and other machines have their own quotas besides this one: see `insert_artifact`.
"""

MATCHES = 1000
"""Maximum number of matches of one search."""

_CHUNK_BYTES = 256 * 1024
_PREVIEW_CHARS = 500
_NAME_CHARS = 200
# values that are safe in a header as they are
_MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,64}/[A-Za-z0-9!#$&^_.+-]{1,64}( *; *[\x21-\x7e]{1,64})?")


@dataclass(frozen=True, slots=True)
class ArtifactRange:
    """Part of an artifact, open for reading: the bytes from `start` up to, but excluding, `end`."""

    artifact: Artifact
    start: int
    end: int
    _descriptor: int

    async def read_chunks(self) -> AsyncIterator[bytes]:
        """Yield the bytes in chunks of up to 256 KiB."""
        position = self.start
        while position < self.end:
            size = min(_CHUNK_BYTES, self.end - position)
            chunk = await asyncio.to_thread(os.pread, self._descriptor, size, position)
            if not chunk:
                return
            position += len(chunk)
            yield chunk


class ArtifactStore:
    """Stores artifacts within the quota, and returns them whole, in ranges or by search."""

    def __init__(self, database: Database, files: ArtifactFiles, quota_bytes: int) -> None:
        self._database = database
        self._files = files
        self._quota_bytes = quota_bytes
        self.counts = {"saved": 0, "evicted": 0}

    @classmethod
    async def open(cls, database: Database, folder: Path, *, quota_bytes: int = QUOTA_BYTES) -> Self:
        """Open the store, and reconcile rows and files after an unclean shutdown.

        Raises:
            StateDirError: The folder cannot be created or used.
        """
        files = await asyncio.to_thread(ArtifactFiles, folder)
        sizes = await asyncio.to_thread(files.read_sizes)
        known = await database.write(partial(delete_incomplete_rows, sizes))
        await asyncio.to_thread(files.delete_unknown, known)
        return cls(database, files, quota_bytes)

    async def save(
        self,
        data: bytes,
        *,
        mime: str,
        name: str,
        session_id: str = "",
        call_id: str = "",
        is_untrusted: bool = True,
        account: str = "",
    ) -> ArtifactLink:
        """Store bytes; evict the oldest artifacts of the same account if its quota requires it.

        Args:
            account: See `Artifact`; empty: the account of the client that owns the chat session, else the user's.
        Raises:
            ToolError: `result_too_large` (more than the whole quota), `disk_full`.
        """
        if charge_of(len(data)) > (quota_bytes := quota_of(account, self._quota_bytes)):
            raise too_large(len(data), quota_bytes)
        artifact = _new_artifact(
            new_artifact_id(),
            mime=mime,
            name=name,
            size_bytes=len(data),
            session_id=session_id,
            call_id=call_id,
            is_untrusted=is_untrusted,
            account=account,
        )
        # file before row: after a crash in between, the next start deletes the file without a row
        await asyncio.to_thread(self._files.write, artifact.artifact_id, data)
        await self._insert(artifact)
        return ArtifactLink(
            artifact.artifact_id, artifact.mime, len(data), artifact.name, _make_preview(artifact, data)
        )

    async def save_stream(self, chunks: AsyncIterator[bytes], *, name: str, owner: str) -> ArtifactLink:
        """Store an upload while it arrives; its media type is detected from its first bytes.

        Args:
            chunks: The bytes; if the iterator raises, nothing is stored.
            name: The file name given by the sender.
            owner: The credential that owns it.
        Raises:
            ToolError: `result_too_large`, `disk_full`.
        """
        artifact_id = new_artifact_id()
        file = await asyncio.to_thread(self._files.create_file, artifact_id)
        head = b""
        size = 0
        try:
            async for chunk in chunks:
                size += len(chunk)
                head += chunk[: HEAD_BYTES - len(head)]
                await asyncio.to_thread(_write_chunk, file, chunk, size)
            if charge_of(size) > self._quota_bytes:
                raise too_large(size, self._quota_bytes)
            await asyncio.to_thread(_commit_file, file, size)
        finally:
            await asyncio.to_thread(file.discard)
        artifact = _new_artifact(
            artifact_id, mime=media_type(head, name), name=name, size_bytes=size, is_untrusted=True, owner=owner
        )
        await self._insert(artifact)
        return ArtifactLink(artifact_id, artifact.mime, size, artifact.name, _make_preview(artifact, head))

    async def get_artifact(self, artifact_id: str, owner: str | None = None) -> Artifact:
        """Return an artifact's metadata.

        Args:
            artifact_id: Its id.
            owner: Credential that must have sent it or own its session; None: the caller checks access.
        Raises:
            ToolError: `artifact_not_found`, also if it belongs to someone else.
        """
        look_up = partial(find_artifact, artifact_id, owner)
        artifact = await self._database.read(look_up) if is_artifact_id(artifact_id) else None
        if artifact is None:
            raise unknown_artifact(artifact_id)
        return artifact

    async def list_newest(
        self, limit: int, *, session_id: str | None = None, before: int | None = None
    ) -> list[tuple[int, Artifact]]:
        """Return artifacts stored by calls, newest first, each with its number.

        Args:
            limit: Maximum number of artifacts.
            session_id: Only artifacts of this session; None: all.
            before: Only artifacts with a smaller number, for paging.
        """
        return await self._database.read(partial(newest_artifacts, limit, session_id, before))

    async def load(self, artifact_id: str) -> bytes:
        """Return all bytes of an artifact.

        Raises:
            ToolError: `artifact_not_found`.
        """
        async with self.open_range(artifact_id) as whole:
            return b"".join([chunk async for chunk in whole.read_chunks()])

    @asynccontextmanager
    async def open_range(
        self, artifact_id: str, start: int = 0, end: int | None = None
    ) -> AsyncIterator[ArtifactRange]:
        """Open part of an artifact; it stays readable until closed, even if the artifact is deleted.

        Args:
            artifact_id: Its id.
            start: First byte; negative: counted from the end.
            end: The byte after the last; None or beyond the end: the end of the artifact.
        Raises:
            ToolError: `artifact_not_found`; `invalid_range` if the range contains no byte.
        """
        artifact = await self.get_artifact(artifact_id)
        first, after = _clip_range(artifact, start, end)
        descriptor = await asyncio.to_thread(self._files.open, artifact_id)
        try:
            yield ArtifactRange(artifact, first, after, descriptor)
        finally:
            os.close(descriptor)

    async def search(
        self, artifact_id: str, query: str, *, ignore_case: bool = False, limit: int = 100
    ) -> list[TextMatch]:
        """Return the first lines of a text that contain the query literally.

        Args:
            artifact_id: Its id; its media type must be text.
            query: 1 to 1,000 characters on one line.
            ignore_case: Ignore case.
            limit: Maximum number of lines, up to 1,000.
        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`, `invalid_query`.
        """
        if not 1 <= len(query) <= QUERY_CHARS or "\n" in query:
            raise ToolError("invalid_query", f"a query has 1 to {QUERY_CHARS} characters and no line end")
        artifact = await self.get_artifact(artifact_id)
        if not artifact.is_text:
            raise ToolError(
                "artifact_not_text", f"the artifact is {artifact.mime}; only text can be searched", mime=artifact.mime
            )
        return await asyncio.to_thread(self._search_file, artifact_id, query, ignore_case, max(1, min(limit, MATCHES)))

    async def open_file(self, artifact_id: str) -> OpenFile:
        """Open a whole artifact for reading, even if it is deleted meanwhile; the caller closes it.

        Raises:
            ToolError: `artifact_not_found`.
        """
        return regular_file(await asyncio.to_thread(self._files.open, artifact_id))

    async def read_lines(self, artifact: Artifact, first: int, limit: int, chars: int) -> ArtifactLines:
        """Return lines of a text, starting at line `first`: as many as requested and as fit into `chars`.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        return await asyncio.to_thread(self._read_text_lines, artifact, partial(slice_lines, first, limit, chars))

    async def find_lines(self, artifact: Artifact, query: str, first: int, limit: int) -> ArtifactLines:
        """Return lines that contain the query literally, starting at line `first`.

        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`.
        """
        return await asyncio.to_thread(self._read_text_lines, artifact, partial(find_lines, query, first, limit))

    async def pin_artifacts(self, artifact_ids: Sequence[str], session_id: str, owner: str | None) -> list[Artifact]:
        """Pin artifacts for a message about to be sent: they are not evicted, and calls of its session can read them.

        Args:
            artifact_ids: Their ids; artifacts of other owners count as not found.
            session_id: The session of the message.
            owner: Credential that must own them or the session they were made in; None: any.
        Raises:
            ToolError: `artifact_not_found`; `attachments_full`: messages already pin as much as they may.
        """
        work = partial(pin_artifacts, artifact_ids, session_id, owner, self._quota_bytes)
        return await self._database.write(work, is_durable=True)

    async def unpin_artifacts(self, artifact_ids: Sequence[str], session_id: str) -> None:
        """Release artifacts pinned for a message that is not sent after all."""
        await self._database.write(partial(unpin_artifacts, artifact_ids, session_id), is_durable=True)

    async def is_pinned(self, artifact_id: str, session_id: str) -> bool:
        """Return True if a message of the session pins the artifact."""
        return await self._database.read(partial(is_artifact_pinned, artifact_id, session_id))

    async def mark_untrusted(self, call_id: str) -> None:
        """Mark everything that a call has stored as untrusted."""
        statement = "UPDATE artifacts SET is_untrusted = 1 WHERE call_id = ?"
        await self._database.write(lambda connection: connection.execute(statement, (call_id,)).rowcount)

    async def delete(self, artifact_id: str) -> None:
        """Delete an artifact.

        Raises:
            ToolError: `artifact_not_found`.
        """
        if not is_artifact_id(artifact_id) or not await self._database.write(partial(remove_artifact, artifact_id)):
            raise unknown_artifact(artifact_id)
        await asyncio.to_thread(self._files.delete, [artifact_id])

    async def used_bytes(self) -> int:
        """Return the bytes charged to all accounts together."""
        return await self._database.read(used_bytes)

    async def _insert(self, artifact: Artifact) -> None:
        try:
            evicted = await self._database.write(partial(insert_artifact, artifact, self._quota_bytes))
        except sqlite3.OperationalError as exc:
            await asyncio.to_thread(self._files.delete, [artifact.artifact_id])
            if exc.sqlite_errorcode == sqlite3.SQLITE_FULL:
                raise disk_full(artifact.size_bytes) from exc
            raise
        except ToolError:
            await asyncio.to_thread(self._files.delete, [artifact.artifact_id])
            raise
        self.counts["saved"] += 1
        if evicted:
            self.counts["evicted"] += len(evicted)
            log.info("artifacts_evicted", artifacts=len(evicted), for_artifact=artifact.artifact_id)
            await asyncio.to_thread(self._files.delete, evicted)

    def _read_text_lines(self, artifact: Artifact, read: Callable[[TextIO], ArtifactLines]) -> ArtifactLines:
        with os.fdopen(self._files.open(artifact.artifact_id), "rb") as file:
            if not (artifact.is_text or _starts_with_text(file)):
                message = (
                    f"artifact {artifact.name!r} is {artifact.mime}, which has no lines; save it, or read its bytes"
                )
                raise ToolError("artifact_not_text", message, mime=artifact.mime)
            with _as_text(file, artifact.mime) as text:
                return read(text)

    def _search_file(self, artifact_id: str, query: str, ignore_case: bool, limit: int) -> list[TextMatch]:
        with os.fdopen(self._files.open(artifact_id), "rb") as file:
            return list(islice(search_lines(file, query, ignore_case=ignore_case), limit))


def _new_artifact(
    artifact_id: str,
    *,
    mime: str,
    name: str,
    size_bytes: int,
    is_untrusted: bool,
    session_id: str = "",
    call_id: str = "",
    owner: str = "",
    account: str = "",
) -> Artifact:
    return Artifact(
        artifact_id=artifact_id,
        mime=mime if _MIME.fullmatch(mime) else "application/octet-stream",
        name=_clean_name(name),
        size_bytes=size_bytes,
        created_at_ms=time.time_ns() // 1_000_000,
        session_id=session_id,
        call_id=call_id,
        is_untrusted=is_untrusted,
        owner=owner,
        account=account,
    )


def _write_chunk(file: NewPrivateFile, chunk: bytes, size_bytes: int) -> None:
    with translate_disk_full(size_bytes):
        file.write(chunk)


def _commit_file(file: NewPrivateFile, size_bytes: int) -> None:
    with translate_disk_full(size_bytes):
        file.commit()


def _clean_name(name: str) -> str:
    """Return a name safe for a header and a save dialog: the last part of a path, without control characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in last if character.isprintable())
    return shown[:_NAME_CHARS] or "artifact"


def _make_preview(artifact: Artifact, data: bytes) -> str:
    return data[: 4 * _PREVIEW_CHARS].decode("utf-8", "ignore")[:_PREVIEW_CHARS] if artifact.is_text else ""


def _clip_range(artifact: Artifact, start: int, end: int | None) -> tuple[int, int]:
    size = artifact.size_bytes
    first = max(0, size + start) if start < 0 else start
    after = size if end is None else min(end, size)
    if first >= after and not (size == 0 and start == 0):
        raise ToolError(
            "invalid_range", f"no byte of {size} lies from {start} up to {end}", size_bytes=size, start=start, end=end
        )
    return first, after


def _starts_with_text(file: BinaryIO) -> bool:
    """Return True if the file starts with UTF-8 text, whatever its media type; rewinds the file."""
    head = file.read(HEAD_BYTES)
    file.seek(0)
    return is_text(head)


def _as_text(file: BinaryIO, mime: str) -> TextIO:
    """Wrap a file as text in the encoding named by its media type, else UTF-8."""
    encoding = mime.rpartition("charset=")[2] if "charset=" in mime else "utf-8"
    try:
        return io.TextIOWrapper(file, encoding, errors="replace", newline="\n")
    except LookupError:
        return io.TextIOWrapper(file, "utf-8", errors="replace", newline="\n")
