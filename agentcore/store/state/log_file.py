"""The server's log in the state folder: JSON lines readable only by the owner, limited in size, oldest dropped."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from agentcore.store.state.private_file import make_private_folder

FILE_BYTES = 4 * 1024 * 1024
"""Size at which a file is rotated."""

FILES_KEPT = 3
"""Number of files, including the current one."""

LINE_BYTES = 64 * 1024
"""Maximum length of a line; long texts in a longer line are cut."""

_FOLDER = "logs"
_NAME = "server.jsonl"
_OPEN = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_TEXT_CHARS = 8 * 1024
_HEAD = ("time", "level", "event", "module", "call_id", "tool", "logger")


def log_files(state: Path) -> tuple[Path, ...]:
    """Return the log files of a state folder, oldest first, whether or not they exist; the last one is written to."""
    current = state / _FOLDER / _NAME
    older = (current.with_name(f"{_NAME}.{number}") for number in range(FILES_KEPT - 1, 0, -1))
    return (*older, current)


class LogFile:
    """Appends lines to the log of a state folder that this process holds.

    If the disk is full or the folder is gone, lines of this file are lost, without other effects.

    Raises:
        StateDirError: The log folder cannot be created.
    """

    def __init__(self, state: Path) -> None:
        self._files = log_files(state)
        self._lock = threading.Lock()
        self._size = 0
        self._file: BinaryIO | None = None
        make_private_folder(self._files[-1].parent)

    def write(self, lines: bytes) -> None:
        """Append whole lines; thread-safe."""
        if len(lines) > LINE_BYTES:
            lines = b"".join(_shorten_line(line) for line in lines.splitlines(keepends=True))
        with self._lock, suppress(OSError):
            if self._file is None or self._size + len(lines) > FILE_BYTES:
                self._open_file()
            assert self._file is not None  # noqa: S101 - begun above
            self._file.write(lines)
            self._size += len(lines)

    def close(self) -> None:
        """Close the file; a later write opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _open_file(self) -> None:
        """Open the current file, rotating it if it is full."""
        if self._file is not None:
            self._file.close()
            self._file = None
        current = self._files[-1]
        if current.exists() and current.stat().st_size + LINE_BYTES > FILE_BYTES:
            for older, newer in zip(self._files, self._files[1:], strict=False):
                with suppress(FileNotFoundError):
                    newer.replace(older)
        descriptor = os.open(current, _OPEN, 0o600)
        os.fchmod(descriptor, 0o600)
        self._file = os.fdopen(descriptor, "ab", buffering=0)
        self._size = os.fstat(descriptor).st_size


def _shorten_line(line: bytes) -> bytes:
    """Return a line with its long texts cut: still JSON, and within the limit."""
    if len(line) <= LINE_BYTES:
        return line
    fields = {
        key: f"{value[:_TEXT_CHARS]}… [{len(value) - _TEXT_CHARS:,} more characters]"
        if isinstance(value, str) and len(value) > _TEXT_CHARS
        else value
        for key, value in json.loads(line).items()
    }
    shorter = json.dumps(fields).encode() + b"\n"
    if len(shorter) > LINE_BYTES:
        head = {key: str(fields[key])[:1024] for key in _HEAD if key in fields}
        shorter = json.dumps(head | {"left_out": len(line)}).encode() + b"\n"
    return shorter
