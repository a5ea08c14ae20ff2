"""What bounds an edit, before and while it is made: the size of its result, and the flag that stops a thread."""

from collections.abc import Callable
from difflib import Match, SequenceMatcher

from agentcore.api import ToolError
from agentcore_fs_tools.text.formatting import show_size

EDIT_LIMIT_BYTES = 16 << 20
"""A larger file is not edited, and no edit makes a larger one."""

COMPARED_LINES = 4_000_000
"""Product of the lines of both sides; beyond it a line-by-line comparison takes seconds."""

IsCancelled = Callable[[], bool]
"""Whether the call, or the preview, for which a thread works has ended."""


def never_cancelled() -> bool:
    """No call has ended: for work that nobody cancels."""
    return False


def refuse_if_cancelled(is_cancelled: IsCancelled) -> None:
    """Stop a thread whose result nobody waits for.

    Raises:
        ToolError: `cancelled`.
    """
    if is_cancelled():
        raise ToolError("cancelled", "Working out the edit was cancelled; nothing was changed.")


def refuse_large_result(size: int, shown: str) -> None:
    """Refuse an edit by the size of what it would make, before it is made.

    Args:
        size: Length of the new text; no encoding needs less than a byte for a character.
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
    """Compares sequences of lines, and stops between two steps when nobody waits for the result.

    One step takes at most `COMPARED_LINES` comparisons if its user holds the sequences to that; there may be
    as many steps as lines.
    """

    def __init__(
        self, old: list[str], new: list[str], is_cancelled: IsCancelled = never_cancelled, *, autojunk: bool = True
    ) -> None:
        self._is_cancelled = is_cancelled
        super().__init__(None, old, new, autojunk=autojunk)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """See `difflib.SequenceMatcher`, whose other methods call this once for each step.

        Raises:
            ToolError: `cancelled`.
        """
        refuse_if_cancelled(self._is_cancelled)
        return super().find_longest_match(alo, ahi, blo, bhi)
