"""Convert errors of the operating system to errors that a caller can act on."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from agentcore.errors import ToolError

_ERRORS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("path_not_found", "{path} does not exist; list its folder to see what does."),
    errno.ENOTDIR: ("not_a_directory", "{path} is not a folder, or a part of this path is none."),
    errno.EISDIR: ("is_a_directory", "{path} is a folder, not a file."),
    errno.EACCES: ("permission_denied", "The operating system does not permit this on {path}."),
    errno.EPERM: ("permission_denied", "The operating system does not permit this on {path}."),
    errno.EROFS: ("read_only_file_system", "{path} lies on a read-only file system; choose another place."),
    errno.ENOSPC: ("disk_full", "There is no space left for {path}; what was there is unchanged. Free some space."),
    errno.EDQUOT: ("disk_full", "The disk quota leaves no room for {path}; what was there is unchanged."),
    errno.EFBIG: ("file_too_large", "{path} would be larger than the system allows; what was there is unchanged."),
    errno.ENAMETOOLONG: ("name_too_long", "A name in {path} is too long for the file system; shorten it."),
    errno.ELOOP: ("too_many_links", "The links in {path} lead in a circle, or through too many links."),
    errno.EXDEV: ("path_outside_workspace", "{path} leads out of the workspace; only paths inside its roots work."),
    errno.EEXIST: ("file_exists", "{path} exists already."),
    errno.ENOTEMPTY: ("directory_not_empty", "The folder {path} is not empty."),
    errno.EINVAL: ("invalid_path", "The file system does not accept {path}."),
    errno.EBUSY: ("file_busy", "{path} is in use by the system, as a mount point is."),
    errno.ENXIO: ("not_a_file", "{path} is no regular file."),
    errno.ENODEV: ("not_a_file", "{path} is no regular file."),
    errno.EMFILE: ("too_many_open_files", "Too many files are open; {path} could not be opened. Try again."),
    errno.ENFILE: ("too_many_open_files", "Too many files are open; {path} could not be opened. Try again."),
}
_RETRYABLE = frozenset(("disk_full", "file_busy", "too_many_open_files"))


def file_error(exc: OSError, shown: str) -> ToolError:
    """Return the error for a caller, with the path as shown to callers and nothing about paths outside the roots."""
    known = _ERRORS.get(exc.errno or 0)
    if known is None:
        name = errno.errorcode.get(exc.errno or 0, "an unknown error")
        return ToolError("file_error", f"The file system failed on {shown!r} with {name}.", path=shown)
    kind, message = known
    return ToolError(kind, message.format(path=repr(shown)), retryable=kind in _RETRYABLE, path=shown)


@contextmanager
def file_errors(shown: str) -> Iterator[None]:
    """Convert each `OSError` in the block to the error for a caller.

    Raises:
        ToolError: `path_not_found`, `permission_denied`, `disk_full` and the others of `file_error`.
    """
    try:
        yield
    except OSError as exc:
        raise file_error(exc, shown) from exc
