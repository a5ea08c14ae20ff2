"""Tracks whether the running code is a preview of a call, which is not approved yet and must have no side effects."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agentcore.errors import ToolError


class _Preview:
    """One preview; code that it started and that runs after its end is not part of it."""

    is_over = False


_PREVIEW: ContextVar[_Preview | None] = ContextVar("agentcore_preview", default=None)


@contextmanager
def previewing() -> Iterator[None]:
    """Return a context that is a preview, including the tasks and threads that asyncio starts from it."""
    preview = _Preview()
    before = _PREVIEW.set(preview)
    try:
        yield
    finally:
        preview.is_over = True
        _PREVIEW.reset(before)


def refuse_in_preview() -> None:
    """Check that the running code is not a preview.

    Raises:
        ToolError: `not_in_preview`.
    """
    preview = _PREVIEW.get()
    if preview is not None and not preview.is_over:
        raise not_in_preview()


def not_in_preview() -> ToolError:
    """Return the error of a preview that tries to have side effects."""
    return ToolError("not_in_preview", "a preview can read artifacts, and ask for and change nothing else")
