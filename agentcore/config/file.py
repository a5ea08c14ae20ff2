"""One JSON file of the configuration: read with positions, rewritten atomically and only where it did not change."""

import errno
import os
import stat
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

from agentcore.config.errors import ConfigChangedError, ConfigError, ConfigProblem
from agentcore.config.json_edit import with_value
from agentcore.config.json_source import JsonPath, JsonSource, JsonSyntaxError

FILE_BYTES = 1024 * 1024
"""The largest file that is read as configuration."""

_NEW_FILE = b"{}\n"
_NEW_FILE_MODE = 0o600  # it may come to hold a key

# held from the last look at a file to its replacement, so that two threads of this process never lose a change
_WRITING = threading.Lock()


@dataclass(frozen=True)
class ConfigFile:
    """A JSON file whose root is an object, as it was when it was read.

    Args:
        path: The path as it was asked for.
        source: Its text; that of an empty object where the file does not exist.
    """

    path: Path
    source: JsonSource = field(repr=False)
    exists: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file.

        Raises:
            ConfigError: It cannot be read, is no regular file, is too large, or is not a JSON object.
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
        """Write the file with one value replaced or added, every other byte, order and indentation kept.

        The new file takes the place of the old one in one step, keeps its mode and, where possible, its owner; a
        link stays a link to it. A value that is there already writes nothing.

        Returns:
            The file as it is now.
        Raises:
            ConfigChangedError: Somebody else changed the file since it was read.
            ConfigError: It cannot be written, or the path leads through something that is not an object.
        """
        return self.with_text(self.edit_text(path, value))

    def edit_text(self, path: JsonPath, value: Any) -> str:
        """The text with one value replaced or added; nothing is written.

        Raises:
            ConfigError: The path leads through something that is not an object, or JSON does not have the value.
        """
        try:
            text = with_value(self.source, path, value)
            text.encode()
        except ValueError as exc:
            raise ConfigError([ConfigProblem(str(exc), self.path, path=path)]) from exc
        return text

    def with_text(self, text: str, *, makes_folder: bool = False) -> Self:
        """Write the file anew, in one step; see `with_value`. The same text writes nothing.

        Raises:
            JsonSyntaxError: It is not JSON.
            ConfigChangedError: Somebody else changed the file since it was read.
            ConfigError: It cannot be written.
        """
        if self.exists and text == self.source.text:
            return self
        data = text.encode()
        if len(data) > FILE_BYTES:
            raise ConfigError([ConfigProblem(f"not written: it would be larger than {FILE_BYTES} bytes", self.path)])
        source = JsonSource.from_bytes(data)  # what could not be read again is never written
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
        with suppress(PermissionError):  # only root gives files away; then it becomes ours, as with any editor
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))

    def _move_to_target(self, temporary: Path, target: Path) -> None:
        if self.exists:
            temporary.replace(target)
            return
        try:
            target.hardlink_to(temporary)  # unlike a rename, it does not overwrite a file made meanwhile
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
    """Set one value of a configuration file, made if missing; see `ConfigFile.with_value`.

    Raises:
        ConfigError: The file cannot be read or written, or is not valid JSON; it stays as it is.
    """
    ConfigFile.read(path).with_value(value_path, value)


def _read_bytes(path: Path) -> bytes | None:
    """The content of a regular file, or None where there is none."""
    try:
        # a FIFO must not hold the start, and a terminal must not become ours
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
        with suppress(OSError):  # some file systems cannot sync a folder; the new file stands there all the same
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _error_reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
