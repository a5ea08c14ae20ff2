"""Previews of deleting, moving and copying for the user."""

from agentcore.api import CallPreview, Workspace
from agentcore_fs_tools.transfer.deleting import refuse_full_folder
from agentcore_fs_tools.transfer.targets import Target


def preview_delete(workspace: Workspace, target: Target, *, recursive: bool) -> CallPreview:
    """Return the preview of a deletion.

    Raises:
        ToolError: `directory_not_empty`.
    """
    refuse_full_folder(workspace, target, recursive=recursive)
    holding = target.place if target.is_folder else None
    return CallPreview(
        paths=(_own_path(workspace, target),),
        is_protected=workspace.is_protected(target.place, holding=holding),
    )


def preview_transfer(workspace: Workspace, source: Target, target: Target, *, is_move: bool) -> CallPreview:
    """Return the preview of a move or copy."""
    tree = source.place if source.is_folder else None
    is_protected = workspace.is_protected(target.place, holding=tree)
    if is_move and not is_protected:
        is_protected = workspace.is_protected(source.place, holding=tree)
    return CallPreview(
        paths=(_own_path(workspace, source), _own_path(workspace, target)),
        is_protected=is_protected,
    )


def _own_path(workspace: Workspace, target: Target) -> str:
    """Return the real path of the entry itself: of a link, not of its target."""
    return f"{workspace.real_path(target.place.parent)}/{workspace.show_name(target.place.name)}"
