"""Artifact files: one folder, generated names, written completely or not at all."""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agentcore.errors import ToolError
from agentcore.store.state.private_file import NewPrivateFile, make_private_folder, write_private_file

_ID = re.compile(r"art_[0-9a-f]{32}")


def new_artifact_id() -> str:
    """Return a new random id, which is safe as a file name."""
    return f"art_{secrets.token_hex(16)}"


def is_artifact_id(text: str) -> bool:
    """Return True if the text has the form of an artifact id."""
    return _ID.fullmatch(text) is not None


def unknown_artifact(artifact_id: str) -> ToolError:
    """Return the error for an unknown artifact id."""
    return ToolError(
        "artifact_not_found",
        f"there is no artifact {artifact_id[:100]!r}: it was deleted, or made room for newer ones; make it again",
        artifact_id=artifact_id[:100],
    )


class ArtifactFiles:
    """Files by artifact id in one private folder. All methods block: call them from a thread."""

    def __init__(self, folder: Path) -> None:
        make_private_folder(folder)
        self._folder = folder

    def write(self, artifact_id: str, data: bytes) -> None:
        """Write a new file.

        Raises:
            ToolError: `disk_full`.
        """
        with translate_disk_full(len(data)):
            write_private_file(self._path(artifact_id), data)

    def create_file(self, artifact_id: str) -> NewPrivateFile:
        """Create a file that is written in chunks, inside `translate_disk_full`.

        Raises:
            OSError: It cannot be created.
        """
        return NewPrivateFile(self._path(artifact_id))

    def open(self, artifact_id: str) -> int:
        """Return a descriptor for reading; the file stays readable through it even if it is deleted meanwhile.

        Raises:
            ToolError: `artifact_not_found`.
        """
        try:
            return os.open(self._path(artifact_id), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError as exc:
            raise unknown_artifact(artifact_id) from exc

    def delete(self, artifact_ids: Iterable[str]) -> None:
        """Delete files; missing ones are ignored."""
        for artifact_id in artifact_ids:
            self._path(artifact_id).unlink(missing_ok=True)

    def delete_unknown(self, known: set[str]) -> None:
        """Delete files without a row: written by a process that was killed before the insert, or half deleted."""
        with os.scandir(self._folder) as entries:
            unknown = [entry.name for entry in entries if entry.name not in known]
        for name in unknown:
            path = self._folder / name
            with suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    path.unlink()

    def read_sizes(self) -> dict[str, int]:
        """Return the size of each file by artifact id."""
        with os.scandir(self._folder) as entries:
            return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries}

    def _path(self, artifact_id: str) -> Path:
        if not is_artifact_id(artifact_id):
            raise unknown_artifact(artifact_id)
        return self._folder / artifact_id


@contextmanager
def translate_disk_full(size_bytes: int) -> Iterator[None]:
    """Raise `disk_full` if the disk has no room."""
    try:
        yield
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(size_bytes) from exc
        raise


def disk_full(size_bytes: int) -> ToolError:
    """Return the error for bytes that do not fit on the disk."""
    return ToolError(
        "disk_full",
        f"the disk of the state folder has no room for {size_bytes} bytes; free some space and try again",
        retryable=True,
        size_bytes=size_bytes,
    )
