"""Python's own parser of Python, for use by several threads."""

import threading
from collections.abc import Callable
from typing import TypeVar

S = TypeVar("S", str, bytes)
T = TypeVar("T")

_one = threading.Lock()
_TRIES = 20


def parse_serially(parse: Callable[[S], T], text: S) -> T:
    """Call a function that creates syntax trees (`ast.parse`, a `Requirement`), one call at a time.

    CPython 3.11 counts the depth of the trees of all threads in one number, so that two at once may end in a
    `SystemError` (https://github.com/python/cpython/issues/106905). Parsing by module code is not serialised; then the
    call is repeated.
    """
    with _one:
        for _ in range(_TRIES):
            try:
                return parse(text)
            except SystemError:
                continue
        return parse(text)
