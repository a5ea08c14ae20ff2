"""`Folder`: operations on single names relative to a descriptor, so that no path is resolved twice."""

import ctypes
import errno
import fcntl
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Literal, Self

from agentcore.files.open_file import OpenFile, regular_file
from agentcore.late_dataclasses import dataclass

EntryKind = Literal["file", "directory", "symlink", "other"]

_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHANGE_FLAGS = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_IS_LINUX: bool = sys.platform.startswith("linux")
# no other write of this process happens between the last check of the old file and its replacement
_COMMIT = threading.Lock()
_F_GETPATH = 50  # macOS, fcntl.h


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in a folder and its kind; a link is a `symlink` whatever its target."""

    name: bytes
    kind: EntryKind


class Folder:
    """An open folder, whose methods operate on single names in exactly this folder and follow no links.

    They raise `OSError`, which `Workspace.errors` converts to errors for callers.

    Attributes:
        fd: The descriptor; on Linux it may be opened with O_PATH.
    """

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def close(self) -> None:
        """Close the descriptor; safe to call twice."""
        fd = self.fd
        self.fd = -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def real_path(self) -> bytes:
        """Return the current absolute path of the folder, for display and comparison."""
        return real_path_of(self.fd)

    def path_for_child(self) -> bytes:
        """Return a path by which a child process enters exactly this folder before it runs.

        On Linux it names the descriptor (`/proc/self/fd/N`: pass it as `cwd` of `subprocess`), elsewhere it is the
        real path, checked against the descriptor.

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
        """Return the status of a name, without following a link."""
        return os.stat(_check_single_name(name), dir_fd=self.fd, follow_symlinks=False)

    def file_times(self, names: Iterable[bytes]) -> list[int | None]:
        """Return the modification time of each file in nanoseconds, None for names that are not regular files."""
        times: list[int | None] = []
        # local names, for speed: a search calls this for very many files
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
        """Return the target of a link as it is stored."""
        return os.readlink(_check_single_name(name), dir_fd=self.fd)

    def open_folder(self, name: bytes) -> "Folder":
        """Open a folder in this one; a link is not followed (ENOTDIR)."""
        return Folder(os.open(_check_single_name(name), _FOLDER_FLAGS, dir_fd=self.fd))

    def open_file(self, name: bytes) -> OpenFile:
        """Open a regular file; a link is not followed (ELOOP), anything else is refused (EISDIR, ENXIO)."""
        return regular_file(os.open(_check_single_name(name), _READ_FLAGS | os.O_NOFOLLOW, dir_fd=self.fd))

    def make_folder(self, name: bytes, mode: int = 0o777) -> None:
        """Create a folder."""
        os.mkdir(_check_single_name(name), mode, dir_fd=self.fd)

    def make_link(self, name: bytes, target: bytes) -> None:
        """Create a symbolic link."""
        os.symlink(target, _check_single_name(name), dir_fd=self.fd)

    def remove_file(self, name: bytes) -> None:
        """Remove an entry that is not a folder; a link is removed itself, not its target."""
        os.unlink(_check_single_name(name), dir_fd=self.fd)

    def remove_folder(self, name: bytes) -> None:
        """Remove an empty folder."""
        os.rmdir(_check_single_name(name), dir_fd=self.fd)

    def rename(self, name: bytes, to: "Folder", new_name: bytes, *, overwrite: bool) -> None:
        """Rename an entry, within a file system (else EXDEV); without `overwrite`, an existing target is EEXIST."""
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
        keep_owner: bool = False,
        is_durable: bool = True,
        before_commit: Callable[[], None] | None = None,
    ) -> os.stat_result:
        """Write a file atomically: at any time, either the whole old content or the whole new content exists.

        A file of another owner, which only root can give away, is changed in place if `keep_owner` is set. A crash can
        then leave a part of the new content in it, but the whole beside it, as `.agentcore-….tmp`.

        Args:
            name: The file.
            content: Its new content, in chunks.
            like: Status from which permissions and, if allowed, the owner are copied; None: a new file.
            mode: Permissions if `like` is None; None: the system's default.
            keep_times: True to copy the modification time from `like`, too.
            overwrite: True to replace an existing file, which otherwise is EEXIST.
            keep_owner: True if `like` is the status of the file that is replaced, whose owner must not change.
            is_durable: True to flush the content to disk before the rename (not needed for each file of a tree copy).
            before_commit: Called when everything is written but nothing replaced yet; if it raises, nothing is changed.
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
                if keep_owner and like is not None and _owner_of(like) != _owner_of(status):
                    return self._write_through(temporary, name)
                self.rename(temporary, self, name, overwrite=overwrite)
        except BaseException:
            with suppress(OSError):  # it may be renamed already; report the first failure
                os.unlink(temporary, dir_fd=self.fd)
            raise
        return status

    def take_over(self, like: os.stat_result) -> None:
        """Copy the permissions and times of another folder to this one."""
        os.fchmod(self.fd, stat.S_IMODE(like.st_mode))
        os.utime(self.fd, ns=(like.st_atime_ns, like.st_mtime_ns))

    def _write_through(self, temporary: bytes, name: bytes) -> os.stat_result:
        """Copy a finished temporary file into an existing one, and remove it."""
        fd = os.open(_check_single_name(name), _CHANGE_FLAGS, dir_fd=self.fd)
        try:
            old = os.fstat(fd)
            if not stat.S_ISREG(old.st_mode):
                raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
            with self.open_file(temporary) as new:
                _reserve_space(fd, old.st_size, new.size_bytes)
                _write_all(fd, new.blocks())
                os.ftruncate(fd, new.size_bytes)
            os.fsync(fd)
            status = os.fstat(fd)
        finally:
            os.close(fd)
        os.unlink(temporary, dir_fd=self.fd)
        return status

    def _copy_status(self, fd: int, name: bytes, like: os.stat_result, *, keep_times: bool) -> None:
        with suppress(PermissionError):  # only root may change the owner
            if _owner_of(like) != _owner_of(os.fstat(fd)):
                os.fchown(fd, like.st_uid, like.st_gid)
        os.fchmod(fd, stat.S_IMODE(like.st_mode))
        if _IS_LINUX:
            self._copy_attributes(fd, name, like)
        if keep_times:
            os.utime(fd, ns=(like.st_atime_ns, like.st_mtime_ns))

    def _copy_attributes(self, fd: int, name: bytes, like: os.stat_result) -> None:
        """Copy ACLs and other extended attributes from the replaced file, as far as the system permits."""
        with suppress(OSError), self.open_file(name) as old:
            if not os.path.samestat(old.stat, like):
                return
            for attribute in os.listxattr(old.fd):
                with suppress(OSError):  # some are reserved for the system, such as security labels
                    os.setxattr(fd, attribute, os.getxattr(old.fd, attribute))

    def _reopen(self) -> "Folder":
        """Open the folder again, with a descriptor that can list entries and has its own read position."""
        return Folder(os.open(b".", _FOLDER_FLAGS, dir_fd=self.fd))


def real_path_of(fd: int) -> bytes:
    """Return the current absolute path of an open file or folder."""
    if _IS_LINUX:
        return os.readlink(b"/proc/self/fd/%d" % fd)  # noqa: PTH115  (a path of bytes)
    return fcntl.fcntl(fd, _F_GETPATH, bytes(1024)).split(b"\0", 1)[0]


def kind_of(mode: int) -> EntryKind:
    """Return the kind of entry for a mode from `stat`."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def _owner_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_uid, status.st_gid


def _reserve_space(fd: int, old_bytes: int, new_bytes: int) -> None:
    """Extend a file to its new size, so that a full disk is noticed while its content is unchanged."""
    if new_bytes <= old_bytes or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(fd, old_bytes, new_bytes - old_bytes)
    except OSError:
        os.ftruncate(fd, old_bytes)
        raise


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
    for chunk in content:
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(fd, rest) :]


_RENAME_NOREPLACE = 1  # Linux
_RENAME_EXCL = 4  # macOS


def rename_new(old_fd: int, old: bytes, new_fd: int, new: bytes) -> None:
    """Rename an entry without replacing another: atomically if the system supports it, otherwise after a check.

    Raises:
        OSError: EEXIST: an entry with the new name exists.
    """
    if _rename_exclusive is not None:
        function, flag = _rename_exclusive
        if function(old_fd, old, new_fd, new, flag) == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            raise OSError(code, os.strerror(code))
    # unsupported by this file system (NFS, some FUSE ones): check first, which leaves a race with other processes
    with suppress(FileNotFoundError):
        os.stat(new, dir_fd=new_fd, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(old, new, src_dir_fd=old_fd, dst_dir_fd=new_fd)


def _find_rename() -> tuple[Callable[..., int], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    name, flag = (
        ("renameat2", _RENAME_NOREPLACE) if sys.platform.startswith("linux") else ("renameatx_np", _RENAME_EXCL)
    )
    function = getattr(library, name, None)
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function, flag


_rename_exclusive = _find_rename()
