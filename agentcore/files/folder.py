"""`Folder`: work on single names by descriptor, so that no path is ever looked up twice."""

import errno
import fcntl
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Self

from agentcore.files.open_file import OpenFile, regular_file
from agentcore.files.renaming import rename_new

EntryKind = Literal["file", "directory", "symlink", "other"]

_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_IS_LINUX: bool = sys.platform.startswith("linux")
# between the last look at the old file and the new one taking its place no other write of this process comes
_COMMIT = threading.Lock()
_F_GETPATH = 50  # macOS, fcntl.h


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder, and what it is; a link is a link, whatever it points to."""

    name: bytes
    kind: EntryKind


class Folder:
    """An open folder; what it does, it does to single names in exactly this folder, following no link.

    Its methods raise `OSError`; `Workspace.errors` makes errors for a caller of these.

    Attributes:
        fd: The descriptor; on Linux it may be one that only passes through (O_PATH).
    """

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def close(self) -> None:
        """Close the descriptor; harmless when it is closed already."""
        fd = self.fd
        self.fd = -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def real_path(self) -> bytes:
        """The absolute path that the folder has at this moment; for display and comparison."""
        return real_path_of(self.fd)

    def path_for_child(self) -> bytes:
        """A path by which a child process enters this very folder, when it inherits or opens it before it runs.

        On Linux it names the descriptor (`/proc/self/fd/N`: give it as `cwd` of `subprocess`), elsewhere it is the
        real path, compared with the descriptor.

        Raises:
            OSError: The folder is no longer where it was.
        """
        if _IS_LINUX:
            return b"/proc/self/fd/%d" % self.fd
        path = self.real_path()
        if not os.path.samestat(os.stat(path), os.fstat(self.fd)):  # noqa: PTH116  (a path of bytes)
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        return path

    def entries(self, limit: int | None = None) -> list[Entry]:
        """Return the entries of the folder in no particular order, at most `limit` if that is given."""
        with self._reopen() as folder, os.scandir(folder.fd) as found:
            return [Entry(os.fsencode(entry.name), _kind_of(entry)) for entry in islice(found, limit)]

    def lstat(self, name: bytes) -> os.stat_result:
        """The status of a name, of the link itself where it is one."""
        return os.stat(_check_single_name(name), dir_fd=self.fd, follow_symlinks=False)

    def file_times(self, names: Iterable[bytes]) -> list[int | None]:
        """The time of the last change of each file in nanoseconds; None where there is no regular file of the name."""
        times: list[int | None] = []
        # a search asks for very many
        look = os.stat
        fd = self.fd
        for name in names:
            try:
                status = look(name if b"/" not in name else _check_single_name(name), dir_fd=fd, follow_symlinks=False)
            except OSError:
                times.append(None)
            else:
                times.append(status.st_mtime_ns if stat.S_ISREG(status.st_mode) else None)
        return times

    def readlink(self, name: bytes) -> bytes:
        """What a link says."""
        return os.readlink(_check_single_name(name), dir_fd=self.fd)

    def open_folder(self, name: bytes) -> "Folder":
        """Open a folder in this one; a link is not followed (ENOTDIR)."""
        return Folder(os.open(_check_single_name(name), _FOLDER_FLAGS, dir_fd=self.fd))

    def open_file(self, name: bytes) -> OpenFile:
        """Open a regular file; a link is not followed (ELOOP), anything else is refused (EISDIR, ENXIO)."""
        return regular_file(os.open(_check_single_name(name), _READ_FLAGS | os.O_NOFOLLOW, dir_fd=self.fd))

    def make_folder(self, name: bytes, mode: int = 0o777) -> None:
        """Make a folder."""
        os.mkdir(_check_single_name(name), mode, dir_fd=self.fd)

    def make_link(self, name: bytes, target: bytes) -> None:
        """Make a symbolic link."""
        os.symlink(target, _check_single_name(name), dir_fd=self.fd)

    def remove_file(self, name: bytes) -> None:
        """Remove a name that is no folder; a link is removed, not what it points to."""
        os.unlink(_check_single_name(name), dir_fd=self.fd)

    def remove_folder(self, name: bytes) -> None:
        """Remove an empty folder."""
        os.rmdir(_check_single_name(name), dir_fd=self.fd)

    def rename(self, name: bytes, to: "Folder", new_name: bytes, *, overwrite: bool) -> None:
        """Give an entry another name, in a folder of the same file system (else EXDEV); EEXIST: no `overwrite`."""
        _check_single_name(name), _check_single_name(new_name)
        if overwrite:
            os.rename(name, new_name, src_dir_fd=self.fd, dst_dir_fd=to.fd)
        else:
            rename_new(self.fd, name, to.fd, new_name)

    def write_file(
        self,
        name: bytes,
        content: Iterable[bytes | memoryview],
        *,
        like: os.stat_result | None = None,
        mode: int | None = None,
        keep_times: bool = False,
        overwrite: bool = True,
        is_durable: bool = True,
        before_commit: Callable[[], None] | None = None,
    ) -> os.stat_result:
        """Write a file so that at each moment the old content or the new one is there, whole.

        Args:
            name: The file.
            content: Its new content, in pieces.
            like: Permissions (and, where allowed, the owner) are taken from here; else as for a new file.
            mode: Permissions of a file that is like no other one; None: as the system gives new files.
            keep_times: Whether the modification time is taken from `like`, too.
            overwrite: Whether a target is replaced; else it is EEXIST.
            is_durable: Whether the content is on the disk before the name is (one of many files of a copy need not be).
            before_commit: Called when everything is written and nothing is changed; what it raises leaves it so.
        Returns:
            The status of the new file.
        """
        temporary = b".agentcore-%s.tmp" % os.urandom(8).hex().encode("ascii")
        fd = os.open(temporary, _CREATE_FLAGS, 0o666 if like is None and mode is None else 0o600, dir_fd=self.fd)
        try:
            try:
                _write_all(fd, content)
                if like is not None:
                    self._copy_status(fd, name, like, keep_times=keep_times)
                elif mode is not None:
                    os.fchmod(fd, mode)
                if is_durable:
                    os.fsync(fd)
                status = os.fstat(fd)
            finally:
                os.close(fd)
            with _COMMIT:
                if before_commit is not None:
                    before_commit()
                self.rename(temporary, self, name, overwrite=overwrite)
        except BaseException:
            with suppress(OSError):  # it may be renamed already, and the first failure is the one to tell
                os.unlink(temporary, dir_fd=self.fd)
            raise
        return status

    def take_over(self, like: os.stat_result) -> None:
        """Give the folder itself the permissions and times of another one."""
        os.fchmod(self.fd, stat.S_IMODE(like.st_mode))
        os.utime(self.fd, ns=(like.st_atime_ns, like.st_mtime_ns))

    def _copy_status(self, fd: int, name: bytes, like: os.stat_result, *, keep_times: bool) -> None:
        with suppress(PermissionError):  # only root may give a file away
            if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(fd, like.st_uid, like.st_gid)
        os.fchmod(fd, stat.S_IMODE(like.st_mode))
        if _IS_LINUX:
            self._copy_attributes(fd, name, like)
        if keep_times:
            os.utime(fd, ns=(like.st_atime_ns, like.st_mtime_ns))

    def _copy_attributes(self, fd: int, name: bytes, like: os.stat_result) -> None:
        """Keep access lists and other extended attributes of the file that is replaced, where the system lets us."""
        with suppress(OSError), self.open_file(name) as old:
            if not os.path.samestat(old.stat, like):
                return
            for attribute in os.listxattr(old.fd):
                with suppress(OSError):  # some belong to the system, such as security labels
                    os.setxattr(fd, attribute, os.getxattr(old.fd, attribute))

    def _reopen(self) -> "Folder":
        """The folder once more, with a descriptor that lists, and with a reading position of its own."""
        return Folder(os.open(b".", _FOLDER_FLAGS, dir_fd=self.fd))


def real_path_of(fd: int) -> bytes:
    """The absolute path of an open file or folder at this moment."""
    if _IS_LINUX:
        return os.readlink(b"/proc/self/fd/%d" % fd)  # noqa: PTH115  (a path of bytes)
    return fcntl.fcntl(fd, _F_GETPATH, bytes(1024)).split(b"\0", 1)[0]


def kind_of(mode: int) -> EntryKind:
    """The kind of entry that a mode from `stat` tells."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def _kind_of(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _check_single_name(name: bytes) -> bytes:
    if b"/" in name or name in (b"", b".", b".."):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return name


def _write_all(fd: int, content: Iterable[bytes | memoryview]) -> None:
    for piece in content:
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(fd, rest) :]
