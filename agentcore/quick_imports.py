"""Imports without the garbage collector.

A collection goes through objects to find those that nobody uses. Importing makes many, and nearly all stay, so that a
start would spend a tenth of its time in collections that find little.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOCK = threading.Lock()
_importing = 0


@contextmanager
def quick_imports() -> Iterator[None]:
    """Disable garbage collection while code is imported in this block or, in other threads, in another one."""
    _count_imports(1)
    try:
        yield
    finally:
        _count_imports(-1)


def _count_imports(change: int) -> None:
    global _importing  # noqa: PLW0603 - the collector is one for the process
    with _LOCK:
        _importing += change
        if _importing:
            gc.disable()
        else:
            gc.enable()
