"""One JSON configuration file: read with positions, rewritten atomically and only if it did not change."""

import errno
import os
import stat
import tempfile
import threading
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any, NoReturn, Self

from agentcore.config.config_errors import ConfigChangedError, ConfigError, ConfigProblem
from agentcore.config.json_edit import with_value
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError
from agentcore.late_dataclasses import dataclass

FILE_BYTES = 1024 * 1024
"""Maximum size of a configuration file."""

_NEW_FILE = b"{}\n"
_NEW_FILE_MODE = 0o600  # it may later contain a key

# locked from the last check of a file to its replacement, so that two threads of this process never lose a change
_WRITING = threading.Lock()


@dataclass(frozen=True)
class ConfigFile:
    """A JSON file whose root is an object, as it was when read.

    Args:
        path: The path as requested.
        source: Its text; that of an empty object if the file does not exist.
    """

    path: Path
    source: JsonSource = field(repr=False)
    exists: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file.

        Raises:
            ConfigError: It cannot be read, is not a regular file, is too large, or is not a JSON object.
        """
        try:
            data = _read_bytes(path)
            source = JsonSource.from_bytes(_NEW_FILE if data is None else data)
        except JsonSyntaxError as exc:
            raise ConfigError([ConfigProblem(exc.message, path, exc.line, exc.column)]) from exc
        if not isinstance(source.value, dict):
            line, column = source.locate(())
            message = "expected an object, '{' and its members, at the root of the file"
            raise ConfigError([ConfigProblem(message, path, line, column)])
        return cls(path, source, data is not None)

    def with_value(self, path: JsonPath, value: Any) -> Self:
        """Write the file with one value replaced or added; all other bytes, order and indentation are kept.

        The file is replaced atomically and keeps its mode and, if possible, its owner; a link still points to it. If
        the value is already there, nothing is written.

        Returns:
            The new state of the file.
        Raises:
            ConfigChangedError: Another program changed the file since it was read.
            ConfigError: It cannot be written, or the path leads through something that is not an object.
        """
        return self.with_text(self.edit_text(path, value))

    def edit_text(self, path: JsonPath, value: Any) -> str:
        """Return the text with one value replaced or added; nothing is written.

        Raises:
            ConfigError: The path leads through something that is not an object, or JSON cannot express the value.
        """
        try:
            text = with_value(self.source, path, value)
            text.encode()
        except ValueError as exc:
            raise ConfigError([ConfigProblem(str(exc), self.path, path=path)]) from exc
        return text

    def with_text(self, text: str, *, makes_folder: bool = False) -> Self:
        """Replace the file's text atomically; see `with_value`. Writing the same text does nothing.

        Raises:
            JsonSyntaxError: It is not JSON.
            ConfigChangedError: Another program changed the file since it was read.
            ConfigError: It cannot be written.
        """
        if self.exists and text == self.source.text:
            return self
        data = text.encode()
        if len(data) > FILE_BYTES:
            raise ConfigError([ConfigProblem(f"not written: it would be larger than {FILE_BYTES} bytes", self.path)])
        source = JsonSource.from_bytes(data)  # text that could not be read again is never written
        target = self.path.resolve()
        try:
            with _WRITING:
                if makes_folder:
                    target.parent.mkdir(exist_ok=True)
                self._replace_file(target, data)
        except OSError as exc:
            raise ConfigError([ConfigProblem(f"cannot write: {_error_reason(exc)}", self.path)]) from exc
        return type(self)(self.path, source, exists=True)

    def _replace_file(self, target: Path, data: bytes) -> None:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                self._refuse_change()
                self._copy_mode(target, descriptor)
                os.fsync(descriptor)
            self._move_to_target(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)

    def _copy_mode(self, target: Path, descriptor: int) -> None:
        if not self.exists:
            os.fchmod(descriptor, _NEW_FILE_MODE)
            return
        old = target.stat()
        with suppress(PermissionError):  # only root can change the owner; else it becomes ours, as with any editor
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))

    def _move_to_target(self, temporary: Path, target: Path) -> None:
        if self.exists:
            temporary.replace(target)
            return
        try:
            target.hardlink_to(temporary)  # unlike a rename, it does not overwrite a file created meanwhile
        except FileExistsError:
            self._fail_changed()

    def _refuse_change(self) -> None:
        data = _read_bytes(self.path)
        if data != (self.source.text.encode() if self.exists else None):
            self._fail_changed()

    def _fail_changed(self) -> NoReturn:
        message = "changed by another program since it was read; nothing was written, try again"
        raise ConfigChangedError([ConfigProblem(message, self.path)])


def set_value(path: Path, value_path: JsonPath, value: Any) -> None:
    """Set one value of a configuration file, which is created if missing; see `ConfigFile.with_value`.

    Raises:
        ConfigError: The file cannot be read or written, or is not valid JSON; it is left unchanged.
    """
    ConfigFile.read(path).with_value(value_path, value)


def _read_bytes(path: Path) -> bytes | None:
    """Return the content of a regular file, or None if it does not exist."""
    try:
        # a FIFO must not block the start, and a terminal must not become the controlling one
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as exc:
        if exc.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise ConfigError([ConfigProblem(f"cannot read: {_error_reason(exc)}", path)]) from exc
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError([ConfigProblem("cannot read: it is not a regular file", path)])
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise ConfigError([ConfigProblem(f"cannot read: it is larger than {FILE_BYTES} bytes", path)])
    return data


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot sync a folder; the new file exists anyway
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _error_reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
