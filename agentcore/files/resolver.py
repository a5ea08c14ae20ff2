"""`Resolver`: open places by descriptor, following links that stay inside the roots."""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from agentcore.files.folder import Folder, real_path_of
from agentcore.files.location import Place, Root, split_absolute, split_path
from agentcore.files.open_beneath import Opener

PATH_ONLY: int = getattr(os, "O_PATH", os.O_RDONLY)
"""Opens without reading, and without read permission, if the system supports that (O_PATH)."""

_NOT_WAITING = os.O_NONBLOCK if PATH_ONLY == os.O_RDONLY else 0  # O_PATH never blocks and does not accept this flag
_BY_EFFECTIVE_IDS = os.access in os.supports_effective_ids
_LINKS_LIMIT = 40  # as in Linux (MAXSYMLINKS)


class Resolver:
    """Resolves places to open files and folders. All methods raise `OSError`.

    Args:
        roots: The workspace roots.
        use_openat2: As for `Opener`.
    """

    def __init__(self, roots: Sequence[Root], *, use_openat2: bool) -> None:
        self._roots = tuple(roots)
        self._opener = Opener(roots, use_openat2=use_openat2)

    def open(self, place: Place, flags: int) -> int:
        """Open a place and return the descriptor; EXDEV if the path leaves the roots."""
        return self._opener.open(place.root, place.parts, flags)

    def pass_through(self, place: Place) -> Folder:
        """Open a folder to access its entries; on Linux this needs no permission to list it."""
        return Folder(self.open(place, PATH_ONLY | os.O_DIRECTORY))

    def exists(self, place: Place) -> bool:
        """Return True if a place exists and is accessible."""
        try:
            os.close(self.open(place, PATH_ONLY | _NOT_WAITING))
        except OSError:
            return False
        return True

    def stat(self, place: Place, *, follow: bool) -> os.stat_result:
        """Return the status of a place; of a link itself unless `follow` is set."""
        if PATH_ONLY == os.O_RDONLY:
            return self._stat_by_name(place, follow=follow)
        fd = self.open(place, PATH_ONLY | (0 if follow else os.O_NOFOLLOW))
        try:
            return os.fstat(fd)
        finally:
            os.close(fd)

    def permits_writing(self, place: Place) -> bool:
        """Return True if the system lets this process write to an existing file or folder."""
        if PATH_ONLY == os.O_RDONLY:
            return self._permits_by_name(place)
        fd = self.open(place, PATH_ONLY)
        try:
            return os.access(f"/proc/self/fd/{fd}", os.W_OK, effective_ids=_BY_EFFECTIVE_IDS)
        finally:
            os.close(fd)

    def refuse_read_only_mount(self, place: Place) -> None:
        """Raise EROFS if the file system of an existing file or folder is mounted read-only."""
        fd = self.open(place, PATH_ONLY | _NOT_WAITING)
        try:
            if os.fstatvfs(fd).f_flag & os.ST_RDONLY:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        finally:
            os.close(fd)

    def open_or_make(self, place: Place) -> Folder:
        """Open a folder to access its entries, creating it and its parents if they are missing."""
        for depth in range(len(place.parts), -1, -1):
            try:
                here = self.pass_through(Place(place.root, place.parts[:depth]))
            except FileNotFoundError:
                continue
            return _make_below(here, place.parts[depth:])
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def open_parent(self, place: Place, *, follow: bool, create: bool) -> tuple[Folder, Place]:
        """Open the parent folder of a place, as `Workspace.open_parent`."""
        for _ in range(_LINKS_LIMIT):
            parent = self.open_or_make(place.parent) if create else self.pass_through(place.parent)
            try:
                target = _link_target(parent, place.name) if follow else None
            except BaseException:
                parent.close()
                raise
            if target is None:
                return parent, place
            parent.close()
            place = self._behind_link(place, target)
            if place.name in (b"", b".."):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def real_path(self, place: Place) -> bytes:
        """Return the real path of the deepest existing part, the rest as written (EINVAL if that contains `..`)."""
        for depth in range(len(place.parts), 0, -1):
            try:
                fd = self.open(Place(place.root, place.parts[:depth]), PATH_ONLY | _NOT_WAITING)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                if place.parts[depth - 1] == b"..":
                    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None
                continue
            try:
                return b"/".join((real_path_of(fd), *place.parts[depth:]))
            finally:
                os.close(fd)
        return b"/".join((place.root.path, *place.parts))

    def _behind_link(self, place: Place, target: bytes) -> Place:
        parts = split_path(target)
        if not target.startswith(b"/"):
            return Place(place.root, place.parts[:-1] + parts)
        inside = split_absolute(self._roots, parts)
        if inside is None:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return Place(*inside)

    def _stat_by_name(self, place: Place, *, follow: bool) -> os.stat_result:
        """Return the status on systems without O_PATH, where opening needs read permission."""
        if place.name in (b"", b".."):
            with self.pass_through(place) as here:
                return os.fstat(here.fd)
        try:
            parent, place = self.open_parent(place, follow=follow, create=False)
        except IsADirectoryError:  # a link to a root, or to `..`
            with self.pass_through(place) as here:
                return os.fstat(here.fd)
        with parent:
            return parent.lstat(place.name)

    def _permits_by_name(self, place: Place) -> bool:
        if place.name in (b"", b".."):
            with self.pass_through(place) as here:
                return os.access(b".", os.W_OK, dir_fd=here.fd, effective_ids=_BY_EFFECTIVE_IDS)
        parent, place = self.open_parent(place, follow=True, create=False)
        with parent:
            return os.access(place.name, os.W_OK, dir_fd=parent.fd, effective_ids=_BY_EFFECTIVE_IDS)


def _make_below(here: Folder, names: Sequence[bytes]) -> Folder:
    for name in names:
        with here:
            with suppress(FileExistsError):  # created by someone else meanwhile
                here.make_folder(name)
            here = here.open_folder(name)
    return here


def _link_target(parent: Folder, name: bytes) -> bytes | None:
    try:
        return parent.readlink(name)
    except OSError as exc:
        if exc.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise
