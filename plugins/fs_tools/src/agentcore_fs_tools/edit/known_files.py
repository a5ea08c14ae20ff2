"""Which files the model of a session has read or written: it must not replace others by mistake."""

import threading
from collections import OrderedDict

from agentcore.api import ToolContext, ToolError
from agentcore_fs_tools.edit.changes import Change
from agentcore_fs_tools.edit.file_text import describe_size

_MODELS = frozenset(("chat", "mcp"))
"""Principals whose calls a model writes."""

_FILES_LIMIT = 20_000
"""Of more files, those that were used least recently are forgotten."""


class KnownFiles:
    """The files that each session has read or written since the module started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[tuple[str, str], None] = OrderedDict()

    @staticmethod
    def is_of_model(ctx: ToolContext) -> bool:
        """Return True if a model wrote the call."""
        return ctx.principal.kind in _MODELS

    def add(self, ctx: ToolContext, path: str) -> None:
        """Record that the session of a call knows a file, which exists."""
        if not self.is_of_model(ctx):
            return
        key = _key_of(ctx, path)
        with self._lock:
            self._files[key] = None
            self._files.move_to_end(key)
            if len(self._files) > _FILES_LIMIT:
                self._files.popitem(last=False)

    def is_known(self, ctx: ToolContext, path: str) -> bool:
        """Return True if the model of a session has read or written a file."""
        if not self.is_of_model(ctx):
            return False
        key = _key_of(ctx, path)
        with self._lock:
            return key in self._files

    def refuse_unknown(self, ctx: ToolContext, change: Change, *, overwrite: bool) -> None:
        """Refuse to replace a file that the model of the session has not seen, unless it says so.

        Raises:
            ToolError: `file_exists`; `permission_denied`: it could not be replaced anyway.
        """
        if overwrite or not self.is_of_model(ctx) or change.old.status is None or not change.old.status.st_size:
            return
        if self.is_known(ctx, change.shown):
            return
        ctx.workspace.refuse_read_only(change.place, change.old.status)
        message = (
            f"{change.shown!r} exists already, with {describe_size(change.old)}, and was not read in this session; "
            "nothing was changed. Read it with `read_file` and change a part with `edit`, or call `write_file` again "
            "with `overwrite: true` to replace all of it."
        )
        raise ToolError("file_exists", message, path=change.shown)


def _key_of(ctx: ToolContext, path: str) -> tuple[str, str]:
    return ctx.session_id, ctx.workspace.real_path(ctx.workspace.find_place(path))
