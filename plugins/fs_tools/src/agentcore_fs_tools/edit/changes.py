"""Planned changes of a file by a write or an edit: computed once, shown in a preview, then applied."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentcore.api import CallPreview, ToolError, Workspace
from agentcore_fs_tools.edit.editing import Edit, apply_edits
from agentcore_fs_tools.edit.file_text import FileText, load_for_overwriting, load_text
from agentcore_fs_tools.edit.hunks import apply_hunks
from agentcore_fs_tools.edit.limits import IsCancelled, refuse_large_result
from agentcore_fs_tools.edit.line_ends import find_dominant_end, fit_line_ends
from agentcore_fs_tools.edit.unified_diff import make_diff, parse_diff
from agentcore_fs_tools.text.encoding import TextForm, detect_line_ends, show_stray_bytes

DIFF_LIMIT_CHARS = 64 << 10
"""Longer diffs are truncated."""


@dataclass(frozen=True, slots=True)
class Change:
    """New text for one file.

    Args:
        place: The file.
        shown: Its path as shown to callers.
        old: The current text.
        new: The new text.
        form: Encoding and byte order mark of the new file.
        replacements: Number of replacements by an edit.
        kept_ends: The line ends of the old file that the new text was converted to; empty: it was not converted.
    """

    place: Workspace.Place
    shown: str
    old: FileText
    new: str
    form: TextForm
    replacements: int = 0
    kept_ends: str = ""

    @property
    def is_new(self) -> bool:
        """True if the file does not exist yet."""
        return self.old.status is None

    def encode_content(self) -> bytes:
        """Return the bytes of the new file.

        Raises:
            ToolError: `cannot_encode`.
        """
        return self.form.encode(self.new, self.shown)

    def build_diff(self, is_cancelled: IsCancelled) -> str:
        """Return the change as a unified diff, truncated if it is very long.

        Raises:
            ToolError: `cancelled`.
        """
        diff = make_diff(
            self.old.text,
            self.new,
            self.shown,
            is_new_file=self.is_new,
            limit_chars=DIFF_LIMIT_CHARS,
            is_cancelled=is_cancelled,
        )
        return show_stray_bytes(diff)

    def build_preview(self, workspace: Workspace, is_cancelled: IsCancelled) -> CallPreview:
        """Return the preview that is shown to the user before the change.

        Raises:
            ToolError: `permission_denied` (the file is read-only), `cancelled`.
        """
        workspace.refuse_read_only(self.place, self.old.status)
        return CallPreview(
            paths=(workspace.real_path(self.place),),
            diff=self.build_diff(is_cancelled),
            is_protected=workspace.is_protected(self.place),
        )

    def describe_change(self) -> dict[str, object]:
        """Return the facts about the change for the structured result."""
        return {
            "path": self.shown,
            "encoding": self.form.encoding,
            "bom": bool(self.form.mark),
            "line_ends": detect_line_ends(self.new),
        }


def plan_write(
    workspace: Workspace, path: str, content: str, encoding: str | None, *, create_dirs: bool = True
) -> Change:
    """Plan new content for a file; encoding, mark and line ends are preserved if the file is text.

    Raises:
        ToolError: `unknown_encoding`, `is_a_directory`, `not_a_file`, `path_not_found` (a parent folder is missing and
            `create_dirs` is not set), and others of opening.
    """
    place = workspace.find_place(path)
    shown = workspace.show(place)
    old = load_for_overwriting(workspace, place, encoding)
    if old.status is None and not create_dirs:
        _refuse_missing_folder(workspace, place, shown)
    fitted = content
    if old.line_ends in ("lf", "crlf"):
        fitted = fit_line_ends(content, old.text, find_dominant_end(old.text))
    # stray bytes of the old content are not in the new one
    form = replace(old.form, has_stray_bytes=False)
    return Change(place, shown, old, fitted, form, kept_ends=old.line_ends if fitted != content else "")


def plan_edit(
    workspace: Workspace,
    path: str,
    edits: Sequence[Edit] | None,
    diff: str | None,
    encoding: str | None,
    *,
    is_cancelled: IsCancelled,
) -> Change:
    """Plan the text of a file after edits or a diff.

    Args:
        is_cancelled: Checked before each step; each step is short.
    Raises:
        ToolError: `edit_not_found`, `edit_ambiguous`, `invalid_diff`, `invalid_arguments`, `binary_file`,
            `cannot_decode`, `cannot_encode`, `file_too_large` (the file or the result), `cancelled`, and
            others of opening.
    """
    if (edits is None) == (diff is None) or edits == []:
        raise ToolError("invalid_arguments", "Give either `edits`, with at least one edit, or `diff`.")
    place = workspace.find_place(path)
    shown = workspace.show(place)
    _refuse_half_characters(edits or (), diff or "", shown)
    hunks = parse_diff(diff) if diff is not None else []
    old = load_text(workspace, place, encoding)
    if hunks:
        new, count = apply_hunks(old.text, hunks, shown, is_cancelled)
    else:
        new, count = apply_edits(old.text, edits or [], shown, is_cancelled)
    change = Change(place, shown, old, new, old.form, count)
    refuse_large_result(len(change.encode_content()), shown)
    return change


def _refuse_half_characters(edits: Sequence[Edit], diff: str, shown: str) -> None:
    """Refuse lone surrogates: in the text of a file, they represent stray bytes."""
    for text in (diff, *(edit.new for edit in edits)):
        if show_stray_bytes(text) != text:
            message = f"The new text for {shown!r} holds half of a character (a lone surrogate), which is no text."
            raise ToolError("cannot_encode", message, path=shown)


def _refuse_missing_folder(workspace: Workspace, place: Workspace.Place, shown: str) -> None:
    try:
        workspace.open_parent(place, follow=True)[0].close()
    except ToolError as error:
        if error.type != "path_not_found":
            raise
        message = f"The folder of {shown!r} does not exist; leave out `create_dirs` to have it made."
        raise ToolError("path_not_found", message, path=shown) from error
