"""Move to the bin: by the FreeDesktop.org trash specification 1.0 on Linux, by the system function on macOS."""

import os
import stat
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from agentcore.api import ToolError, Workspace

_TRIES = 1_000
_IS_LINUX: bool = sys.platform.startswith("linux")

if not _IS_LINUX:
    from send2trash import send2trash  # type: ignore[import-untyped]


def move_to_trash(parent: Workspace.Folder, name: bytes, shown: str) -> None:
    """Move an entry of an open folder to the bin of its file system.

    Raises:
        ToolError: `no_trash`: this file system has no usable bin.
        OSError: The entry cannot be moved.
    """
    if not _IS_LINUX:
        _by_system(parent, name)
        return
    device = os.fstat(parent.fd).st_dev
    origin = parent.real_path() + b"/" + name
    for place, top in _list_bins(origin, device):
        try:
            bin_fd = _open_bin(place, device)
        except OSError:
            continue
        with Workspace.Folder(bin_fd) as folder:
            _move_to_bin(parent, name, folder, os.path.relpath(origin, top) if top else origin)
        return
    message = f"There is no bin for {shown!r} on its file system; delete it for good with the setting `trash` off."
    raise ToolError("no_trash", message, path=shown)


def _list_bins(origin: bytes, device: int) -> list[tuple[Path, bytes]]:
    """Return candidate bins, each with the folder to which paths in its records are relative (empty: absolute)."""
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "Trash"
    top = origin
    while top != b"/" and os.stat(os.path.dirname(top)).st_dev == device:  # noqa: PTH116, PTH120  (paths of bytes)
        top = os.path.dirname(top)  # noqa: PTH120
    user = str(os.getuid())
    mount = Path(os.fsdecode(top))
    return [(home, b""), (mount / ".Trash" / user, top), (mount / f".Trash-{user}", top)]


def _open_bin(place: Path, device: int) -> int:
    """Open a bin on this file system, created if missing; the shared `.Trash` only if it is a sticky folder."""
    if place.parent.name == ".Trash":
        shared = place.parent.lstat()
        if not stat.S_ISDIR(shared.st_mode) or not shared.st_mode & stat.S_ISVTX:
            raise PermissionError
    nearest = next(folder for folder in (place, *place.parents) if folder.exists())
    if nearest.stat().st_dev != device:
        raise OSError("another file system")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _move_to_bin(parent: Workspace.Folder, name: bytes, trash: Workspace.Folder, origin: bytes) -> None:
    for folder in (b"files", b"info"):
        with suppress(FileExistsError):
            trash.make_folder(folder, 0o700)
    record = f"[Trash Info]\nPath={quote(origin)}\nDeletionDate={datetime.now().isoformat(timespec='seconds')}\n"  # noqa: DTZ005  (the specification wants local time)
    with trash.open_folder(b"files") as files, trash.open_folder(b"info") as info:
        for number in range(_TRIES):
            new = name[:200] + (b".%d" % number if number else b"")
            try:
                info.write_file(new + b".trashinfo", [record.encode("ascii")], overwrite=False)
            except FileExistsError:
                continue
            try:
                parent.rename(name, files, new, overwrite=False)
            except FileExistsError:
                info.remove_file(new + b".trashinfo")
                continue
            except BaseException:
                info.remove_file(new + b".trashinfo")
                raise
            return
    raise FileExistsError


def _by_system(parent: Workspace.Folder, name: bytes) -> None:
    """Move by the system function, which needs a path, after checking that the path still names the entry."""
    path = parent.path_for_child() + b"/" + name
    if not os.path.samestat(os.lstat(path), parent.lstat(name)):
        raise FileNotFoundError
    send2trash(os.fsdecode(path))
