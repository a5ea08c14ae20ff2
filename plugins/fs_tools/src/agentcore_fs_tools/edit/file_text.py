"""`FileText`: the text of a file, read so that it can be written back unchanged."""

import os
from dataclasses import dataclass

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.edit.limits import EDIT_LIMIT_BYTES
from agentcore_fs_tools.text.encoding import UTF8, LineEnds, TextForm, detect_form, detect_line_ends, named_form
from agentcore_fs_tools.text.formatting import show_count, show_size


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file and the properties to preserve when it is written.

    Args:
        text: Content with the original line ends, without the byte order mark; stray bytes are lone surrogates.
        form: Encoding and byte order mark.
        status: Status of the file when it was read; None: the file does not exist yet.
        is_text: False if there is content that is not editable text.
    """

    text: str
    form: TextForm
    status: os.stat_result | None
    is_text: bool = True

    @property
    def line_ends(self) -> LineEnds:
        """Return the kind of line ends in the text."""
        return detect_line_ends(self.text)


def load_text(workspace: Workspace, place: Workspace.Place, encoding: str | None = None) -> FileText:
    """Read a whole text file and verify that writing the same text yields the same bytes.

    Raises:
        ToolError: `binary_file`, `cannot_decode`, `file_too_large`, `unknown_encoding`, and those of opening.
    """
    shown = workspace.show(place)
    with workspace.open_file(place) as file, workspace.errors(place):
        if file.size_bytes > EDIT_LIMIT_BYTES:
            message = (
                f"{shown!r} has {show_size(file.size_bytes)}, more than {show_size(EDIT_LIMIT_BYTES)}; use a program."
            )
            raise ToolError("file_too_large", message, path=shown, size_bytes=file.size_bytes)
        content = file.read(EDIT_LIMIT_BYTES + 1)
        status = file.stat
    form = detect_form(content, is_whole=True) if encoding is None else named_form(encoding, content)
    if form is None:
        message = f"{shown!r} is a binary file; if it is text after all, name its `encoding`."
        raise ToolError("binary_file", message, path=shown)
    return FileText(form.decode_reversibly(content, shown), form, status)


def load_for_overwriting(workspace: Workspace, place: Workspace.Place, encoding: str | None) -> FileText:
    """Load a file that is about to be overwritten.

    Returns:
        Its text; an empty text with the status if it is not editable text, or without one if there is no file.

    Raises:
        ToolError: `unknown_encoding`, and those of opening, but not `path_not_found`.
    """
    requested = UTF8 if encoding is None else named_form(encoding)
    if workspace.find_status(place) is None:
        return FileText("", requested, None)
    try:
        old = load_text(workspace, place)
    except ToolError as error:
        if error.type in ("binary_file", "cannot_decode", "file_too_large"):
            return FileText("", requested, workspace.stat(place), is_text=False)
        raise
    return FileText(old.text, old.form if encoding is None else named_form(encoding, old.form.mark), old.status)


def count_lines(text: str) -> int:
    """Return the number of lines of a text; the last one may have no line end."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def describe_size(file: FileText) -> str:
    """Return how much content a file has: the number of its lines, else its size."""
    if file.is_text:
        return show_count(count_lines(file.text), "line")
    return show_size(0 if file.status is None else file.status.st_size)
