"""Open a path so that it cannot leave a folder, even if other processes change it meanwhile.

There are two implementations of the same rules: the kernel's (`openat2` with RESOLVE_BENEATH and
RESOLVE_NO_MAGICLINKS, Linux 5.6), and a walk from descriptor to descriptor, for systems without it and for absolute
links that point inside. Both raise `OSError` with EXDEV for a path that leaves the roots.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Sequence

from agentcore.files.location import Root, split_absolute, split_path

_SYSCALL_OPENAT2 = 437  # the same number on every architecture of Linux
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_KERNEL_TRIES = 8  # EAGAIN: a rename elsewhere raced with `..`; the walk is not affected by that
_LINKS_LIMIT = 40  # as in Linux (MAXSYMLINKS)
_PASS_THROUGH: int = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_OPEN_HOW_SIZE = ctypes.sizeof(_OpenHow)


class Opener:
    """Opens paths beneath roots.

    Args:
        roots: The folders that links may lead into.
        use_openat2: True to use `openat2` if available; False to always use the walk.
    """

    def __init__(self, roots: Sequence[Root], *, use_openat2: bool = True) -> None:
        self._roots = tuple(roots)
        self.uses_openat2 = use_openat2 and _has_openat2(self._roots[0].fd)

    def open(self, root: Root, parts: Sequence[bytes], flags: int) -> int:
        """Open a path beneath a root and return its descriptor; links are followed, also at the end.

        Args:
            root: The root that the path starts from.
            parts: Its components; empty for the root itself.
            flags: As for `os.open`, without O_CREAT. With O_NOFOLLOW a link at the end is not followed.
        Raises:
            OSError: EXDEV: the path leaves the roots; ELOOP: more than 40 links; and those of `os.open`.
        """
        if self.uses_openat2:
            try:
                return _open_by_kernel(root.fd, b"/".join(parts) or b".", flags)
            except OSError as exc:
                # EXDEV may be an absolute link that points inside, which only the walk can resolve
                if exc.errno not in (errno.EXDEV, errno.EAGAIN, errno.ELOOP):
                    raise
        return self._walk(root, parts, flags)

    def _walk(self, root: Root, parts: Sequence[bytes], flags: int) -> int:
        way = _Way(self._roots, root, parts, follow_last=not flags & os.O_NOFOLLOW)
        try:
            return way.open_end(flags | os.O_NOFOLLOW | os.O_CLOEXEC)
        finally:
            way.close()


class _Way:
    """A walk in progress: the descriptors from the root to the current folder, and the remaining components."""

    def __init__(self, roots: Sequence[Root], root: Root, parts: Sequence[bytes], *, follow_last: bool) -> None:
        self._roots = roots
        self._start = root.fd
        self._passed: list[int] = []
        self._ahead = list(reversed(parts))
        self._follow_last = follow_last
        self._links = 0

    def close(self) -> None:
        """Close the folders opened during the walk."""
        while self._passed:
            os.close(self._passed.pop())

    def open_end(self, flags: int) -> int:
        """Walk to the end and open it; `flags` must contain O_NOFOLLOW."""
        while self._ahead:
            name = self._ahead.pop()
            if name == b"..":
                self._step_up()
            elif self._ahead:
                self._step_down(name)
            else:
                descriptor = self._open_last(name, flags)
                if descriptor is not None:
                    return descriptor
        return os.open(b".", flags, dir_fd=self._here)

    @property
    def _here(self) -> int:
        return self._passed[-1] if self._passed else self._start

    def _step_up(self) -> None:
        if not self._passed:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        os.close(self._passed.pop())

    def _step_down(self, name: bytes) -> None:
        try:
            self._passed.append(os.open(name, _PASS_THROUGH, dir_fd=self._here))
        except OSError as exc:
            if exc.errno not in (errno.ENOTDIR, errno.ELOOP) or not self._follow_link(name):
                raise

    def _open_last(self, name: bytes, flags: int) -> int | None:
        while not (self._follow_last and self._follow_link(name)):
            try:
                descriptor = os.open(name, flags, dir_fd=self._here)
            except OSError as exc:
                if exc.errno == errno.ELOOP and self._follow_last:
                    continue  # it became a link since it was checked
                raise
            if not (self._follow_last and stat.S_ISLNK(os.fstat(descriptor).st_mode)):
                return descriptor
            os.close(descriptor)  # O_PATH opens a link that appeared meanwhile
        return None

    def _follow_link(self, name: bytes) -> bool:
        """Insert the target of a link before the remaining components; return False if it is not a link."""
        try:
            target = os.readlink(name, dir_fd=self._here)
        except OSError as exc:
            if exc.errno in (errno.EINVAL, errno.ENOENT):
                return False
            raise
        self._links += 1
        if self._links > _LINKS_LIMIT:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        parts = split_path(target)
        if target.startswith(b"/"):
            inside = split_absolute(self._roots, parts)
            if inside is None:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            self.close()
            self._start = inside[0].fd
            parts = inside[1]
        self._ahead.extend(reversed(parts))
        return True


def _has_openat2(root_fd: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.close(_open_by_kernel(root_fd, b".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError as exc:
        if exc.errno in (errno.ENOSYS, errno.EPERM):  # EPERM: a seccomp filter that does not know the call
            return False
        raise
    return True


def _open_by_kernel(root_fd: int, path: bytes, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_KERNEL_TRIES):
        descriptor: int = _syscall(_SYSCALL_OPENAT2, root_fd, path, how, _OPEN_HOW_SIZE)
        if descriptor >= 0:
            return descriptor
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code))


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_OpenHow), ctypes.c_size_t)
