"""`file_stat`: the type and status of a path."""

import stat
from collections.abc import Callable
from datetime import UTC, datetime

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.read.images import image_type
from agentcore_fs_tools.text.encoding import SAMPLE_BYTES, detect_form
from agentcore_fs_tools.text.formatting import show_count, show_size

COUNT_LIMIT_BYTES = 64 << 20
"""Lines of larger files are not counted."""

_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
_OTHER_KINDS = {
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}


def describe_path(workspace: Workspace, path: str, is_cancelled: Callable[[], bool]) -> ToolResult:
    """Return type, size, modification time and permissions; for a text file also its encoding and number of lines.

    Raises:
        ToolError: `path_not_found`, `path_outside_workspace`, …
    """
    place = workspace.find_place(path)
    status = workspace.stat(place, follow=False)
    facts: dict[str, object] = {
        "path": workspace.show(place),
        "type": kind_name(status.st_mode),
        "size_bytes": status.st_size,
        "modified": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
        "permissions": stat.filemode(status.st_mode),
        "mode": f"{stat.S_IMODE(status.st_mode):04o}",
        "read_only": not workspace.can_write(place, status),
    }
    if stat.S_ISLNK(status.st_mode):
        facts |= _about_link(workspace, place)
    elif stat.S_ISREG(status.st_mode):
        facts |= _about_text(workspace, place, is_cancelled)
    return ToolResult(_format_facts(facts), facts)


def kind_name(mode: int) -> str:
    """Return the name of the file type in a mode."""
    kind = stat.S_IFMT(mode)
    return _KINDS.get(kind) or _OTHER_KINDS.get(kind, "other")


def _about_link(workspace: Workspace, place: Workspace.Place) -> dict[str, object]:
    """Return the target of a link if it is inside the workspace, else the error type."""
    try:
        target = workspace.stat(place)
    except ToolError as error:
        return {"target": None, "target_problem": error.type}
    return {"target": workspace.real_path(place), "target_type": kind_name(target.st_mode)}


def _about_text(workspace: Workspace, place: Workspace.Place, is_cancelled: Callable[[], bool]) -> dict[str, object]:
    try:
        file = workspace.open_file(place)
    except ToolError as error:
        return {"content": error.type}
    with file, workspace.errors(place):
        head = file.read(SAMPLE_BYTES)
        form = None if image_type(head) else detect_form(head, is_whole=len(head) >= file.size_bytes)
        if form is None:
            return {"binary": True}
        facts: dict[str, object] = {"binary": False, "encoding": form.encoding, "bom": bool(form.mark)}
        if form.has_wide_units:
            whole = file.read(COUNT_LIMIT_BYTES)
            text = form.decode(whole, workspace.show(place), errors="replace")
            is_counted = len(whole) == file.size_bytes
            lines = text.count("\n") + (text != "" and not text.endswith("\n"))
            return facts | {"lines": lines if is_counted else None}
        if file.size_bytes > COUNT_LIMIT_BYTES:
            return facts | {"lines": None}
        lines = 0
        last = b"\n"
        for block in file.blocks():
            if is_cancelled():
                raise ToolError("cancelled", "Counting lines was cancelled.")
            lines = lines + block.count(b"\n")
            last = block[-1:]
        return facts | {"lines": lines + (last != b"\n")}


def _format_facts(facts: dict[str, object]) -> str:
    parts = [f"{facts['path']}: {facts['type']}, {show_size(int(str(facts['size_bytes'])))}"]
    parts.append(f"modified {facts['modified']}")
    parts.append(f"{facts['permissions']} ({facts['mode']})" + (", read-only" if facts["read_only"] else ""))
    if facts.get("binary") is False:
        lines = facts.get("lines")
        counted = "too many lines to count" if lines is None else show_count(int(str(lines)), "line")
        parts.append(f"text: {facts['encoding']}{' with BOM' if facts['bom'] else ''}, {counted}")
    elif facts.get("binary"):
        parts.append("binary")
    if "target_problem" in facts:
        parts.append(f"a link that leads nowhere usable ({facts['target_problem']})")
    elif "target" in facts:
        parts.append(f"leads to {facts['target']} ({facts['target_type']})")
    return "; ".join(parts)
