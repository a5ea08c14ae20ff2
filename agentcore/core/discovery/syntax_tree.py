"""Python's own parser of Python, which more than one thread may want at a time."""

import threading
from collections.abc import Callable
from typing import TypeVar

S = TypeVar("S", str, bytes)
T = TypeVar("T")

_one = threading.Lock()
_TRIES = 20


def parse_serially(parse: Callable[[S], T], text: S) -> T:
    """What a function that makes syntax trees (`ast.parse`, a `Requirement`) makes of a text.

    CPython 3.11 counts the depth of the trees of all threads in one number, so that two at once may end in a
    `SystemError` (https://github.com/python/cpython/issues/106905). Here they take turns; what the code of a module
    parses meanwhile does not, and then it is tried again.
    """
    with _one:
        for _ in range(_TRIES):
            try:
                return parse(text)
            except SystemError:
                continue
        return parse(text)
