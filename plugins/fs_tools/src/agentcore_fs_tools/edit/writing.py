"""`write_file` and `edit`: apply a planned change."""

from agentcore.api import Text, ToolResult, Workspace
from agentcore_fs_tools.edit.changes import Change
from agentcore_fs_tools.edit.file_text import count_lines, describe_size
from agentcore_fs_tools.edit.limits import IsCancelled
from agentcore_fs_tools.text.formatting import show_count, show_size

_COMPARED_CHARS = 1 << 20
"""If both texts together are longer, the result has no diff: they are compared only for the preview."""


def write_change(workspace: Workspace, change: Change, is_cancelled: IsCancelled, *, create_dirs: bool) -> ToolResult:
    """Write the whole new content of a file.

    Raises:
        ToolError: `cannot_encode`, `file_changed`, `cancelled`, and those of writing.
    """
    content = change.encode_content()
    # before the write, since this can be cancelled and every write must be reported
    is_compared = len(change.old.text) + len(change.new) <= _COMPARED_CHARS
    diff = {"diff": change.build_diff(is_cancelled)} if is_compared else {}
    is_new = workspace.write_file(
        change.place,
        content,
        create_parents=create_dirs,
        overwrite=not change.is_new,  # do not replace a file that appeared meanwhile
        expected=change.old.status,
    )
    lines = count_lines(change.new)
    facts = change.describe_change() | {"created": is_new, "size_bytes": len(content), "lines": lines} | diff
    size = f"{show_count(lines, 'line')}, {show_size(len(content))}, {change.form.label}"
    if is_new:
        return ToolResult(f"Created {change.shown} ({size}).", facts)
    if change.old.is_text:
        facts["replaced_lines"] = count_lines(change.old.text)
    ends = f" Its {change.kept_ends.upper()} line ends were kept." if change.kept_ends else ""
    return ToolResult(f"Overwrote {change.shown} ({size}); it had {describe_size(change.old)}.{ends}", facts)


def edit_change(workspace: Workspace, change: Change, is_cancelled: IsCancelled, *, dry_run: bool) -> ToolResult:
    """Write an edited file, unless this is a dry run or nothing changes, and return the diff.

    Raises:
        ToolError: `cannot_encode`, `file_changed`, `cancelled`, and those of writing.
    """
    content = change.encode_content()
    is_changed = change.new != change.old.text
    diff = change.build_diff(is_cancelled)  # before the write, since it can be cancelled
    if is_changed and not dry_run:
        workspace.write_file(change.place, content, expected=change.old.status)
    facts = change.describe_change() | {
        "changed": is_changed and not dry_run,
        "dry_run": dry_run,
        "replacements": change.replacements,
        "size_bytes": len(content),
    }
    count = show_count(change.replacements, "place")
    if not is_changed:
        return ToolResult(f"{change.shown} stays as it is: the new text equals the old in {count}.", facts)
    heading = f"Would change {change.shown} in {count}:" if dry_run else f"Changed {change.shown} in {count}:"
    return ToolResult([Text(heading), Text(diff)], facts)
