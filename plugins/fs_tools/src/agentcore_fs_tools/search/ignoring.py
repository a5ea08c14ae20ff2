"""Rules of `.gitignore` above a folder that is searched: those below it ripgrep reads itself."""

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
    """The rules of the root and of the folders between it and a place, as lines of one ignore file of the root.

    The outermost come first, since the last line that matches counts. A repository within a repository is no border,
    as it is none for ripgrep where git is not required.

    Args:
        place: A folder, by its real path.
    """
    lines: list[str] = []
    for depth in range(len(place.parts)):
        above = workspace.Place(place.root, place.parts[:depth])
        with suppress(ToolError), workspace.open_folder(above) as folder:  # it may vanish; the search itself says so
            lines += rules_for_root(_read_ignore_file(folder), folder_glob(above.parts))
    return lines


def rules_for_root(content: bytes, base: str) -> Iterator[str]:
    """The lines of a `.gitignore` as lines of one in the root.

    Args:
        content: Of the file.
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
    """A glob of the root that matches only the folder with these names; `/` at both ends."""
    return "".join(["/", *(f"{_escape_name(name)}/" for name in names)])


def _read_ignore_file(folder: Workspace.Folder) -> bytes:
    try:
        with folder.open_file(_IGNORE_FILE) as file:
            return file.read(_FILE_LIMIT_BYTES)
    except OSError:
        return b""  # there is none, or none that may be read


def _trim_blanks(line: str) -> str:
    """Without blanks at the end, but for one behind a backslash."""
    trimmed = line.rstrip(" ")
    return trimmed + " " if trimmed.endswith("\\") and len(trimmed) < len(line) else trimmed


def _escape_name(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    # a glob has no spelling of a line end or of bytes that are not UTF-8; for ripgrep each is one `?`
    return _UNSPELLED.sub("?", _SHAPED.sub(r"\\\g<0>", text))
