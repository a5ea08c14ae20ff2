"""Rename without replacing an entry that may have appeared under the new name meanwhile."""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

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
