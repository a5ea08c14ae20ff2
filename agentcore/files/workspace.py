"""`Workspace`: the folders that tools may access, and the only way to access them."""

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Self, TypeAlias

from agentcore.errors import ToolError
from agentcore.files import folder, location, open_file
from agentcore.files.git_leads import GitLeads
from agentcore.files.location import Root, split_absolute, split_path
from agentcore.files.names import read_name, show_name
from agentcore.files.os_errors import file_error, file_errors
from agentcore.files.protection import (
    CONTROL_FILE,
    MODULES_FOLDER,
    REPOSITORY_MARKS,
    REPOSITORY_OBEYED,
    Protection,
    is_repository,
)
from agentcore.files.resolver import Resolver
from agentcore.near_names import near_names

_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NAMES_LIMIT = 2_000  # of a folder, compared with a missing name
_TREE_LIMIT = 20_000


class Workspace:
    """The workspace roots, open until `close`.

    Every path from a caller goes through `locate`, and all access to it through descriptors opened beneath a root: a
    path that leaves the roots by `..`, by a link or by a race fails with `path_outside_workspace`, and nothing is read
    or changed. Links that stay inside work. Methods are fast but wait for the disk: call them in a worker thread. Each
    raises `ToolError` with the types of `file_errors` for what the file system refuses.

    Args:
        roots: Existing folders; relative paths of callers start at the first one.
        protected: Patterns of further files that always need the user's approval (as in `.gitignore`); they may be
            absolute or start with `~`, with any spelling of a root.
        spelled: Further absolute paths of the roots, as the user configured them, possibly through links.
        use_openat2: False: resolve paths component by component even if the kernel can do it.
    Raises:
        ValueError: There is no root.
        OSError: A root does not exist or is not a folder.
    """

    Place: TypeAlias = location.Place
    Folder: TypeAlias = folder.Folder
    OpenFile: TypeAlias = open_file.OpenFile
    Entry: TypeAlias = folder.Entry

    def __init__(
        self,
        roots: Sequence[Path],
        protected: Sequence[str] = (),
        *,
        spelled: Sequence[Path] = (),
        use_openat2: bool = True,
    ) -> None:
        if not roots:
            raise ValueError("a workspace needs at least one root")
        self._roots: list[Root] = []
        try:
            for path in dict.fromkeys(roots):
                self._roots.append(_open_root(path, spelled))
            self._resolver = Resolver(self._roots, use_openat2=use_openat2)
            self._kept = _identities_above(self._roots)
        except BaseException:
            self.close()
            raise
        self._protected = tuple(protected)
        self._patterns: frozenset[str] | None = None
        self._protection = Protection()
        self._git_leads = GitLeads()
        self.resolve_protected()

    @property
    def roots(self) -> tuple[Path, ...]:
        """Return the real paths of the roots."""
        return tuple(Path(os.fsdecode(root.path)) for root in self._roots)

    def close(self) -> None:
        """Close the roots; safe to call twice."""
        while self._roots:
            os.close(self._roots.pop().fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # paths

    def locate(self, path: str) -> Place:
        r"""Split a caller's path into its root and the components beneath it, without accessing the disk.

        Args:
            path: Relative to the first root, or absolute inside any; `.` is the first root. Names that are not UTF-8
                are escaped as by `show` (`\xE9`).
        Raises:
            ToolError: `path_outside_workspace`, `invalid_path`.
        """
        name = _bytes_of(path)
        parts = split_path(name)
        if not name.startswith(b"/"):
            return location.Place(self._roots[0], parts)
        inside = split_absolute(self._roots, parts)
        if inside is None:
            message = f"The path {path!r} lies outside of the workspace; only paths inside its roots work."
            raise ToolError("path_outside_workspace", message, path=path)
        return location.Place(*inside)

    def find_place(self, path: str) -> Place:
        """As `locate`, but names that do not exist are replaced by existing ones that look the same.

        These differ only in the Unicode form of their letters (NFC and NFD) or in the kind of blanks, which a model
        cannot see, and often cannot write.

        Raises:
            ToolError: `path_outside_workspace`, `invalid_path`.
        """
        place = self.locate(path)
        if path.isascii() and " " not in path:
            return place
        parts: tuple[bytes, ...] = ()
        for at, name in enumerate(place.parts):
            here = location.Place(place.root, parts)
            if name != b".." and not self._resolver.exists(here.child(name)):
                spelled = find_spelling(self._names_in(here), name)
                if spelled is None:
                    return here.child(*place.parts[at:])
                name = spelled  # noqa: PLW2901
            parts = (*parts, name)
        return location.Place(place.root, parts)

    def show(self, place: Place) -> str:
        """Return the path as shown to callers: relative in the first root, absolute in others; always valid UTF-8."""
        way = b"/".join(place.parts)
        if place.root is self._roots[0]:
            return show_name(way or b".")
        return show_name(b"/".join(part for part in (place.root.path, way) if part))

    @staticmethod
    def show_name(name: bytes) -> str:
        r"""Convert a name or path to valid UTF-8 on one line, other bytes escaped (`\xE9`); see `read_name`."""
        return show_name(name)

    @staticmethod
    def read_name(text: str) -> bytes:
        """Convert a name from `show_name` back to bytes.

        Raises:
            ToolError: `invalid_path`.
        """
        if "\\" not in text and text.isprintable() and text:
            return text.encode("utf-8")  # the common case: a search reads very many
        return _bytes_of(text)

    @staticmethod
    def kind_of(status: os.stat_result) -> folder.EntryKind:
        """Return the kind of entry of a status: `file`, `directory`, `symlink` or `other`."""
        return folder.kind_of(status.st_mode)

    @staticmethod
    def is_writable(status: os.stat_result) -> bool:
        """True if the permissions let this process write; `can_write` also asks the system.

        Root may write every file that anybody may write.
        """
        if os.geteuid() == 0:
            return bool(status.st_mode & _WRITABLE)
        if status.st_uid == os.geteuid():
            return bool(status.st_mode & stat.S_IWUSR)
        if status.st_gid in {os.getegid(), *os.getgroups()}:
            return bool(status.st_mode & stat.S_IWGRP)
        return bool(status.st_mode & stat.S_IWOTH)

    def real_path(self, place: Place) -> str:
        """Return the absolute path of a place for rules and display, links resolved as far as it exists.

        Raises:
            ToolError: `path_outside_workspace`.
        """
        with self.errors(place):
            return show_name(self._resolver.real_path(place))

    def errors(self, place: Place) -> AbstractContextManager[None]:
        """Return a context manager that converts each `OSError` to the corresponding `ToolError` about this place."""
        return file_errors(self.show(place))

    # reading

    def stat(self, place: Place, *, follow: bool = True) -> os.stat_result:
        """Return the status of a place; if it is a link and `follow` is False, of the link itself."""
        try:
            return self._resolver.stat(place, follow=follow)
        except OSError as exc:
            raise self._error_of(exc, place) from exc

    def find_status(self, place: Place, *, follow: bool = True) -> os.stat_result | None:
        """Return the status of a place as `stat` does; None: it does not exist."""
        with self.errors(place):
            try:
                return self._resolver.stat(place, follow=follow)
            except FileNotFoundError:
                return None

    def open_file(self, place: Place) -> open_file.OpenFile:
        """Open a regular file for reading; never waits for a FIFO or a device.

        Raises:
            ToolError: `path_not_found`, `is_a_directory`, `not_a_file` (FIFO, device, socket), …
        """
        try:
            return open_file.regular_file(self._resolver.open(place, _READ_FLAGS))
        except OSError as exc:
            raise self._error_of(exc, place) from exc

    def open_folder(self, place: Place) -> folder.Folder:
        """Open a folder.

        Raises:
            ToolError: `path_not_found`, `not_a_directory`, …
        """
        try:
            return folder.Folder(self._resolver.open(place, _LIST_FLAGS))
        except OSError as exc:
            raise self._error_of(exc, place) from exc

    def open_parent(self, place: Place, *, follow: bool = False, create: bool = False) -> tuple[Folder, Place]:
        """Open the parent folder of a place, to create, replace, rename or remove the entry by name.

        Args:
            place: A file, folder or link; it need not exist.
            follow: True to follow a link at the end to its target (for writing through it).
            create: True to create missing parent folders.
        Returns:
            The folder (the caller closes it), and the place, with links at its end followed if `follow` is set: its
            name is the name in the folder.
        Raises:
            ToolError: `invalid_path`: a root, or a path that ends with `..`; and those of opening.
        """
        if place.name in (b"", b".."):
            shown = self.show(place)
            message = f"{shown!r} names a root or ends with `..`; give the path of the file or folder itself."
            raise ToolError("invalid_path", message, path=shown)
        with self.errors(place):
            return self._resolver.open_parent(place, follow=follow, create=create)

    def working_folder(self, path: str | None = None) -> folder.Folder:
        """Open the working folder of a command (None: the first root): pass `path_for_child()` as `cwd` while open.

        Raises:
            ToolError: `not_a_directory`, `path_not_found`, `path_outside_workspace`, …
        """
        return self.open_folder(self.find_place("." if path is None else path))

    # changing

    def can_write(self, place: Place, status: os.stat_result) -> bool:
        """Return True if the system lets this process write to a file or folder: its permissions, ACLs and its mount.

        What nobody has permission to write (0444) counts as read-only for root, too.

        Args:
            place: The file or folder.
            status: Its status.
        """
        if stat.S_ISLNK(status.st_mode):
            return self.is_writable(status)
        if not status.st_mode & _WRITABLE:
            return False
        with self.errors(place):
            return self._resolver.permits_writing(place)

    def refuse_read_only(self, place: Place, status: os.stat_result | None) -> None:
        """Refuse to replace a read-only file: a rename would ignore its permissions, but they were set deliberately.

        Args:
            place: The file.
            status: Status of the file; None: it does not exist, and nothing is refused.
        Raises:
            ToolError: `permission_denied`: it is read-only; `read_only_file_system`.
        """
        if status is None or not stat.S_ISREG(status.st_mode) or self.can_write(place, status):
            return
        shown = self.show(place)
        with self.errors(place):
            self._resolver.refuse_read_only_mount(place)
        who = f" of user {status.st_uid}, for user {os.geteuid()}" if status.st_mode & _WRITABLE else ""
        message = (
            f"{shown!r} is read-only ({stat.filemode(status.st_mode)}{who}) and is left as it is; write to another "
            "path, or have its permissions changed first (`chmod u+w`)."
        )
        raise ToolError("permission_denied", message, path=shown, mode=f"{stat.S_IMODE(status.st_mode):04o}")

    def make_folder(self, place: Place) -> None:
        """Create a folder and its missing parents; it may exist already."""
        with self.errors(place):
            self._resolver.open_or_make(place).close()

    def write_file(
        self,
        place: Place,
        content: bytes | Iterable[bytes | memoryview],
        *,
        create_parents: bool = False,
        overwrite: bool = True,
        expected: os.stat_result | None = None,
        mode: int | None = None,
    ) -> bool:
        """Write a whole file atomically: a crash, a full disk or any other failure leaves the old content or the new.

        The permissions and the owner of a replaced file are kept (see `Folder.write_file`); a link inside the
        workspace is followed to its target.

        Args:
            create_parents: True to create missing parent folders.
            overwrite: False: an existing file is `file_exists`.
            expected: Status of the file when it was read; a different one now is `file_changed`.
            mode: Permissions of a new file; None: the system's default.
        Returns:
            True if the file is new.
        Raises:
            ToolError: `file_exists`, `file_changed`, `is_a_directory`, `not_a_file`, `disk_full`, `path_not_found`
                (a parent folder is missing), `permission_denied` (also if the file is read-only), …
        """
        parent, place = self.open_parent(place, follow=True, create=create_parents)
        name = place.name
        with parent, self.errors(place):
            old = _stat_replaceable(parent, name)
            self.refuse_read_only(place, old)
            check: Callable[[], None] | None = None
            if expected is not None:
                seen = expected

                def check() -> None:
                    if not _is_same(_stat_replaceable(parent, name), seen):
                        raise _file_changed_error(self.show(place))

                check()
            chunks = (content,) if isinstance(content, bytes) else content
            parent.write_file(
                name, chunks, like=old, mode=mode, overwrite=overwrite, keep_owner=True, before_commit=check
            )
        return old is None

    # protection

    def is_root(self, place: Place) -> bool:
        """Return True if a place is a root or contains one: these are never deleted or moved."""
        status = self.find_status(place, follow=False)
        if status is None:
            return False
        return (status.st_dev, status.st_ino) in self._kept

    def is_protected(self, place: Place, *, holding: Place | None = None) -> bool:
        """Return True if a change always needs approval (control files, git hooks, shell and agent configuration).

        The real path is checked as well, so a link cannot bypass this.

        Args:
            place: The path that is written, moved or deleted.
            holding: A folder whose content is moved or copied to this place, or is there: it is checked, too.
        Raises:
            ToolError: `path_outside_workspace`.
        """
        self.resolve_protected()
        with self.errors(place):
            paths = self._paths_of(place)
        if any(self._is_protected_path(path) for path in paths):
            return True
        if any(self._is_referenced_by_git(path, holds=holding is not None) for path in paths):
            return True
        return holding is not None and any(self._contains_protected(holding, path) for path in paths)

    def resolve_protected(self) -> bool:
        """Follow the links in patterns of protected files again, and return True if any target has changed."""
        patterns = frozenset(each for pattern in self._protected for each in self._spellings_of(pattern))
        if patterns == self._patterns:
            return False
        self._patterns = patterns
        self._protection = Protection(sorted(patterns))
        return True

    def protected_among(
        self, folder: Sequence[str], names: Collection[str], subfolders: Container[str] = ()
    ) -> list[str]:
        """Return which entries of a folder are protected, as `Protection.protected_among`, without disk access."""
        return self._protection.protected_among(folder, names, subfolders)

    def beginnings_among(self, folder: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
        """Return which entries lead to protected files, as `Protection.beginnings_among`, without disk access."""
        return self._protection.beginnings_among(folder, names)

    def _error_of(self, exc: OSError, place: Place) -> ToolError:
        """Return the error for a caller; for a missing path, with the names that were probably meant."""
        shown = self.show(place)
        if not isinstance(exc, FileNotFoundError):
            return file_error(exc, shown)
        here, missing = self._find_missing(place)
        near = [self.show(here.child(name)) for name in find_nearest(self._names_in(here), missing)]
        if not near:
            return file_error(exc, shown)
        what = repr(shown) if here.child(missing).parts == place.parts else f"{shown!r}: {show_name(missing)!r}"
        message = f"{what} does not exist; did you mean {' or '.join(map(repr, near))}?"
        return ToolError("path_not_found", message, path=shown, near=near)

    def _find_missing(self, place: Place) -> tuple[Place, bytes]:
        """Return the deepest existing folder of a place, and the name that is missing in it."""
        for depth in range(len(place.parts)):
            above = location.Place(place.root, place.parts[:depth])
            if not self._resolver.exists(above.child(place.parts[depth])):
                return above, place.parts[depth]
        return place.parent, place.name

    def _names_in(self, place: Place) -> list[bytes]:
        """Return the names in a folder, at most `_NAMES_LIMIT`; none if it cannot be listed."""
        try:
            with folder.Folder(self._resolver.open(place, _LIST_FLAGS)) as here:
                return [entry.name for entry in here.entries(_NAMES_LIMIT)]
        except OSError:
            return []

    def _paths_of(self, place: Place) -> set[bytes]:
        """Return the path of an entry as requested, its real path and, if it is a link, the real path of its target."""
        if not place.parts:
            return {place.root.path}
        paths = {self._resolver.real_path(place.parent) + b"/" + place.name}
        if b".." not in place.parts:
            paths.add(b"/".join((place.root.path, *place.parts)))
        try:
            paths.add(self._resolver.real_path(place))
        except OSError as exc:
            if exc.errno not in (errno.EXDEV, errno.ELOOP):
                raise
            # a link that leads outside, or in a circle: it cannot be written through, but moved or deleted
        return paths

    def _is_protected_path(self, path: bytes) -> bool:
        inside = split_absolute(self._roots, split_path(path))
        if inside is None:
            return False
        root, parts = inside
        texts = [show_name(part) for part in parts]
        return (
            self._protection.is_protected(texts)
            or self._is_modules_folder(root, parts, texts)
            or self._is_of_repository(root, parts)
        )

    def _is_of_repository(self, root: Root, parts: tuple[bytes, ...]) -> bool:
        """Return True if git runs or obeys a path in a repository of any name, or if it makes a folder a repository."""
        for depth, name in enumerate(parts):
            if name in REPOSITORY_OBEYED or name in REPOSITORY_MARKS:
                above = location.Place(root, parts[:depth])
                marks = {mark for mark in REPOSITORY_MARKS if mark != name and self._resolver.exists(above.child(mark))}
                if is_repository(marks | ({name} & REPOSITORY_MARKS)):
                    return True
        return False

    def _is_referenced_by_git(self, path: bytes, *, holds: bool) -> bool:
        """Return True if a repository above a path, or the user's own configuration, makes git read or run it.

        Args:
            holds: True to include paths below `path`.
        """
        text = os.fsdecode(path)
        for lead in self._git_leads.above(os.path.dirname(text)):  # noqa: PTH120
            if f"{text}/".startswith(f"{lead}/") or (holds and lead.startswith(f"{text}/")):
                return True
        return False

    def _is_modules_folder(self, root: Root, parts: tuple[bytes, ...], texts: Sequence[str]) -> bool:
        for depth, text in enumerate(texts):
            if text.casefold() == MODULES_FOLDER and self._resolver.exists(
                location.Place(root, (*parts[:depth], CONTROL_FILE.encode()))
            ):
                return True
        return False

    def _contains_protected(self, tree: Place, path: bytes) -> bool:
        """Return True if an entry of a tree would be protected with the tree at `path`, or if the tree is too large."""
        try:
            ahead = [((), self.open_folder(tree))]  # type: list[tuple[tuple[bytes, ...], folder.Folder]]
        except ToolError:
            return False
        seen = 0
        try:
            while ahead:
                way, here = ahead.pop()
                with here:
                    for entry in here.entries(_TREE_LIMIT + 1):
                        seen += 1
                        below = (*way, entry.name)
                        if seen > _TREE_LIMIT or self._is_protected_path(b"/".join((path, *below))):
                            return True
                        if entry.kind == "directory":
                            with suppress(OSError):  # it vanished or is not readable: then it cannot be moved either
                                ahead.append((below, here.open_folder(entry.name)))
        finally:
            for _, rest in ahead:
                rest.close()
        return False

    def _spellings_of(self, pattern: str) -> set[str]:
        """Return a pattern as written and with links in its literal part followed, each relative to a root."""
        text = os.path.expanduser(pattern) if pattern.startswith("~/") else pattern  # noqa: PTH111
        if "/" not in text.rstrip("/"):
            return {text}
        if text.startswith("/") and (inside := self._inside_of(text)) is not None:
            return {inside, self._beneath_root(_follow_links(text)) or inside}
        linked = (self._beneath_root(_follow_links(f"{os.fsdecode(root.path)}/{text}")) for root in self._roots)
        return {pattern, *filter(None, linked)}

    def _inside_of(self, pattern: str) -> str | None:
        """Return an absolute pattern relative to its root, to which a link may lead; links inside are not followed."""
        if (inside := self._beneath_root(pattern)) is not None:
            return inside
        parts = pattern.split("/")
        for depth in range(2, len(parts) + 1):
            if any(sign in parts[depth - 1] for sign in "*?["):
                break
            if (real := os.path.realpath("/".join(parts[:depth]))) in map(str, self.roots):
                return self._beneath_root("/".join((real, *parts[depth:])))
        followed = _follow_links(pattern)
        return self._beneath_root(followed)  # a link outside the root leads directly to a path below it

    def _beneath_root(self, path: str) -> str | None:
        """Return an absolute path or pattern relative to its root; None if it is in none."""
        inside = split_absolute(self._roots, split_path(path.encode("utf-8", "surrogateescape")))
        return None if inside is None else "/" + b"/".join(inside[1]).decode("utf-8", "surrogateescape")


def _follow_links(pattern: str) -> str:
    """Follow the links in the literal part of an absolute pattern."""
    parts = pattern.split("/")
    literal = next((place for place, part in enumerate(parts) if any(sign in part for sign in "*?[")), len(parts))
    return "/".join((os.path.realpath("/".join(parts[:literal]) or "/"), *parts[literal:]))


def _open_root(path: Path, spelled: Sequence[Path]) -> Root:
    own = os.fsencode(os.path.abspath(path))  # noqa: PTH100  (`Path.resolve` would follow links)
    fd = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    real = folder.real_path_of(fd)
    also = [os.fsencode(each) for each in spelled if os.fsencode(os.path.realpath(each)) == real]
    spellings = tuple(dict.fromkeys(split_path(each) for each in (real, own, *also)))
    return Root(fd, real, spellings)


def _identities_above(roots: Iterable[Root]) -> frozenset[tuple[int, int]]:
    """Return device and inode of each root and of each folder above it."""
    found = set()
    for root in roots:
        parts = split_path(root.path)
        for depth in range(len(parts) + 1):
            with suppress(OSError):  # not accessible, so it cannot be deleted from here either
                status = os.stat(b"/" + b"/".join(parts[:depth]))  # noqa: PTH116  (a path of bytes)
                found.add((status.st_dev, status.st_ino))
    return frozenset(found)


def _bytes_of(path: str) -> bytes:
    try:
        name = read_name(path)
    except ValueError as exc:
        raise ToolError("invalid_path", f"The path {path!r} holds characters that no file name can hold.") from exc
    if not name or b"\0" in name:
        reason = "is empty; `.` names the workspace itself" if not name else "holds a NUL character"
        raise ToolError("invalid_path", f"The path {path!r} {reason}.", path=path)
    return name


def _stat_replaceable(parent: folder.Folder, name: bytes) -> os.stat_result | None:
    """Return the status of the file that a write replaces; None if it does not exist.

    Raises:
        OSError: EISDIR, ENXIO: it is a folder, or not a regular file, which a write must not replace.
    """
    try:
        status = parent.lstat(name)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO
        raise OSError(code, os.strerror(code))
    return status


def _is_same(now: os.stat_result | None, then: os.stat_result) -> bool:
    fields = attrgetter("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    return now is not None and fields(now) == fields(then)


def _file_changed_error(shown: str) -> ToolError:
    message = f"{shown!r} was changed by somebody else in the meantime and is left as it is; read it again."
    return ToolError("file_changed", message, retryable=True, path=shown)


_BLANKS = re.compile(r"[^\S\t\n\r\x1c-\x1f]")
_MOST = 3


def find_spelling(names: Iterable[bytes], wanted: bytes) -> bytes | None:
    """Return the only name that looks the same: composed and decomposed letters, and kinds of blanks, are equal.

    Args:
        names: The names in a folder.
        wanted: The name as written by a caller.
    """
    folded = _fold_name(wanted)
    found = [name for name in names if name == wanted or _fold_name(name) == folded]
    return wanted if wanted in found else found[0] if len(found) == 1 else None


def find_nearest(names: Iterable[bytes], wanted: bytes) -> Sequence[bytes]:
    """Return up to three names with the most similar spelling, nearest first; capitals do not count."""
    folded: dict[str, list[bytes]] = {}
    for name in names:
        folded.setdefault(_fold_name(name).casefold(), []).append(name)
    same = _fold_name(wanted).casefold()
    near = [same] if same in folded else near_names(same, folded)
    return [name for each in near for name in folded[each]][:_MOST]


def _fold_name(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return text if text.isascii() else _BLANKS.sub(" ", unicodedata.normalize("NFC", text))
