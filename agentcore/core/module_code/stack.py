"""Reads the stack of another thread while no other Python code can run."""

import gc
import operator
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate, chain, repeat, starmap

from agentcore.supervision.blocking_module import Frame

_FRAME = operator.attrgetter("f_code.co_filename", "f_lineno", "f_code.co_name")


def stack_of(thread: int) -> list[Frame]:
    """Return the frames of a thread, outermost first; empty: there is no such thread.

    Args:
        thread: Its `ident`.
    """
    # A loop of Python lets other threads in between two frames: the next one may be gone by then, and on Python 3.11
    # its memory be something else. So the whole walk is one call of C, iterators inside of iterators, in which the
    # interpreter's lock stays here; and no frame survives it, whose variables would otherwise be freed in this thread.
    top = map(operator.methodcaller("get", thread), starmap(sys._current_frames, [()]))  # noqa: SLF001
    frames = accumulate(chain(top, repeat("f_back")), getattr)
    found: deque[tuple[str, int | None, str]] = deque()
    # the outermost frame has None behind it, which has no code
    with _no_collection(), suppress(AttributeError):
        found.extend(map(_FRAME, frames))
    return [(file, str(line), function) for file, line, function in reversed(found)]


@contextmanager
def _no_collection() -> Iterator[None]:
    """A block in which making an object runs no finalizer, which would be a loop of Python (as Python 3.11 does)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
