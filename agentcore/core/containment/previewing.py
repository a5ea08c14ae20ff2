"""Whether the code that runs is a preview, which looks at a call that nobody has approved yet, and has no effects."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from agentcore.errors import ToolError


class _Preview:
    """One preview; what was begun from it and goes on after its end is none any more."""

    is_over = False


_PREVIEW: ContextVar[_Preview | None] = ContextVar("agentcore_preview", default=None)


@contextmanager
def previewing() -> Iterator[None]:
    """A block that is a preview, with the tasks and threads that asyncio begins from it."""
    preview = _Preview()
    before = _PREVIEW.set(preview)
    try:
        yield
    finally:
        preview.is_over = True
        _PREVIEW.reset(before)


def refuse_in_preview() -> None:
    """See that the code that runs is no preview.

    Raises:
        ToolError: `not_in_preview`.
    """
    preview = _PREVIEW.get()
    if preview is not None and not preview.is_over:
        raise not_in_preview()


def not_in_preview() -> ToolError:
    """What a preview gets that wants more than to look."""
    return ToolError("not_in_preview", "a preview can read artifacts, and ask for and change nothing else")
