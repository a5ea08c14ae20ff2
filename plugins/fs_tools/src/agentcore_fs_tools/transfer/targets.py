"""Sources and destinations of moving, copying and deleting, checked before anything is changed."""

import os
import stat
from dataclasses import dataclass

from agentcore.api import ToolError, Workspace


@dataclass(frozen=True, slots=True)
class Target:
    """A source or a destination.

    Args:
        place: The path; a link at its end is not followed.
        shown: The path as shown to callers.
        status: Status without following links; None: the path does not exist.
    """

    place: Workspace.Place
    shown: str
    status: os.stat_result | None

    @property
    def is_folder(self) -> bool:
        """True if it is a folder, not a link to one."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)


def locate_existing(workspace: Workspace, path: str) -> Target:
    """Locate an existing file, folder or link.

    Raises:
        ToolError: `path_not_found`, `path_outside_workspace`, …
    """
    place = workspace.find_place(path)
    return Target(place, workspace.show(place), workspace.stat(place, follow=False))


def locate_removable(workspace: Workspace, path: str) -> Target:
    """Locate an existing path that is not a workspace root and does not contain one.

    Raises:
        ToolError: `path_is_root`, `path_not_found`, …
    """
    target = locate_existing(workspace, path)
    _refuse_root(workspace, target)
    return target


def destination_for(workspace: Workspace, source: Target, path: str, *, overwrite: bool) -> Target:
    """Locate the destination of a move or copy, and check that the source can go there.

    Raises:
        ToolError: `file_exists`, `same_path`, `destination_inside_source`, `is_a_directory`, `not_a_directory`,
            `path_is_root`, `permission_denied` (a read-only file is in the way), …
    """
    place = workspace.find_place(path)
    status = workspace.find_status(place, follow=False)
    target = Target(place, workspace.show(place), status)
    _refuse_root(workspace, target)
    _refuse_itself(workspace, source, target)
    if status is None:
        return target
    if not overwrite:
        message = f"{target.shown!r} exists already; choose another destination, or set `overwrite`."
        raise ToolError("file_exists", message, path=target.shown)
    if target.is_folder and not source.is_folder:
        message = f"{target.shown!r} is a folder; give the name that {source.shown!r} shall have in it, too."
        raise ToolError("is_a_directory", message, path=target.shown)
    if source.is_folder and not target.is_folder:
        message = f"{target.shown!r} is no folder, and the folder {source.shown!r} cannot take its place."
        raise ToolError("not_a_directory", message, path=target.shown)
    workspace.refuse_read_only(place, status)
    return target


def _refuse_root(workspace: Workspace, target: Target) -> None:
    if workspace.is_root(target.place):
        message = f"{target.shown!r} is a root of the workspace, or holds one; roots stay where they are."
        raise ToolError("path_is_root", message, path=target.shown)


def _refuse_itself(workspace: Workspace, source: Target, target: Target) -> None:
    old = f"{workspace.real_path(source.place.parent)}/{workspace.show_name(source.place.name)}"
    above = target.place.parent if target.place.parts else target.place
    new = f"{workspace.real_path(above)}/{workspace.show_name(target.place.name)}"
    if old == new:
        message = f"{source.shown!r} and {target.shown!r} are the same; nothing was done."
        raise ToolError("same_path", message, path=source.shown)
    if source.is_folder and new.startswith(f"{old}/"):
        message = f"{target.shown!r} lies inside of {source.shown!r}; a folder cannot go into itself."
        raise ToolError("destination_inside_source", message, path=target.shown)
