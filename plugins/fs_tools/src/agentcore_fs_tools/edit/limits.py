"""Limits of an edit: the size of its result, and the flag that stops its thread."""

from collections.abc import Callable
from difflib import Match, SequenceMatcher

from agentcore.api import ToolError
from agentcore_fs_tools.text.formatting import show_size

EDIT_LIMIT_BYTES = 16 << 20
"""Maximum size of a file before and after an edit."""

COMPARED_LINES = 4_000_000
"""Maximum product of the line counts of both sides; beyond it a line-by-line comparison takes seconds."""

IsCancelled = Callable[[], bool]
"""Returns True once the call or preview that a thread works for has ended."""


def never_cancelled() -> bool:
    """Return False, for work that cannot be cancelled."""
    return False


def refuse_if_cancelled(is_cancelled: IsCancelled) -> None:
    """Stop a thread whose call was cancelled.

    Raises:
        ToolError: `cancelled`.
    """
    if is_cancelled():
        raise ToolError("cancelled", "Working out the edit was cancelled; nothing was changed.")


def refuse_large_result(size: int, shown: str) -> None:
    """Refuse an edit whose result would be too large, before it is made.

    Args:
        size: Length of the new text in characters, each of which is at least one byte in any encoding.
    Raises:
        ToolError: `file_too_large`.
    """
    if size > EDIT_LIMIT_BYTES:
        message = (
            f"{shown!r} would have {show_size(size)} after this edit, more than {show_size(EDIT_LIMIT_BYTES)}; "
            "nothing was changed. Replace less, or use a program."
        )
        raise ToolError("file_too_large", message, path=shown, size_bytes=size)


class StoppableMatcher(SequenceMatcher[str]):
    """Compares sequences of lines and stops between two steps if the call was cancelled.

    One step takes at most `COMPARED_LINES` comparisons if the caller limits the sequences accordingly; there may be
    as many steps as lines.
    """

    def __init__(
        self, old: list[str], new: list[str], is_cancelled: IsCancelled = never_cancelled, *, autojunk: bool = True
    ) -> None:
        self._is_cancelled = is_cancelled
        super().__init__(None, old, new, autojunk=autojunk)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Find the longest match; the other methods of `difflib.SequenceMatcher` call this once per step.

        Raises:
            ToolError: `cancelled`.
        """
        refuse_if_cancelled(self._is_cancelled)
        return super().find_longest_match(alo, ahi, blo, bhi)
