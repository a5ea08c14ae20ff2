"""Rules of `.gitignore` files above a searched folder; ripgrep reads those below it itself."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from agentcore.api import ToolError, Workspace

GIT_FOLDER = b".git"
_IGNORE_FILE = b".gitignore"
_FILE_LIMIT_BYTES = 1 << 20
_LINE_LIMIT_CHARS = 1_000
_SHAPED = re.compile(r"[*?\[\]{}\\!#]")
_UNSPELLED = re.compile(r"[\n\udc80-\udcff]")


def rules_above(workspace: Workspace, place: Workspace.Place) -> list[str]:
    """Return the rules of the root and of the folders between it and `place`, as lines of one ignore file of the root.

    The outermost come first, since the last matching line wins. A nested repository is not a boundary, as for ripgrep
    with `--no-require-git`.

    Args:
        place: A folder, by its real path.
    """
    lines: list[str] = []
    for depth in range(len(place.parts)):
        above = workspace.Place(place.root, place.parts[:depth])
        with suppress(ToolError), workspace.open_folder(above) as folder:  # it may vanish; the search reports that
            lines += rules_for_root(_read_ignore_file(folder), folder_glob(above.parts))
    return lines


def rules_for_root(content: bytes, base: str) -> Iterator[str]:
    """Convert the lines of a `.gitignore` to lines of one in the root.

    Args:
        content: Content of the file.
        base: Its folder as a glob, with `/` at both ends.
    """
    for raw in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = _trim_blanks(raw.removesuffix(b"\r").decode("utf-8", "replace"))
        if line.startswith("#") or len(line) > _LINE_LIMIT_CHARS:
            continue
        mark = "!" if line.startswith("!") else ""
        glob = line.removeprefix("!")
        if glob.strip("/"):
            is_anchored = "/" in glob.removesuffix("/")
            yield f"{mark}{base}{'' if is_anchored else '**/'}{glob.removeprefix('/')}"


def folder_glob(names: Iterable[bytes]) -> str:
    """Return a glob, relative to the root and with `/` at both ends, that matches only the folder with these names."""
    return "".join(["/", *(f"{_escape_name(name)}/" for name in names)])


def _read_ignore_file(folder: Workspace.Folder) -> bytes:
    try:
        with folder.open_file(_IGNORE_FILE) as file:
            return file.read(_FILE_LIMIT_BYTES)
    except OSError:
        return b""  # missing or not readable


def _trim_blanks(line: str) -> str:
    """Remove trailing spaces, except one after a backslash."""
    trimmed = line.rstrip(" ")
    return trimmed + " " if trimmed.endswith("\\") and len(trimmed) < len(line) else trimmed


def _escape_name(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    # a glob cannot express a line end or bytes that are not UTF-8; in ripgrep `?` matches each of them
    return _UNSPELLED.sub("?", _SHAPED.sub(r"\\\g<0>", text))
