"""Syntax trees that several threads make at once: in CPython 3.11 they disturb one another."""

import ast
import gc
import threading
import time

import pytest

from agentcore.core.discovery.syntax_tree import parse_serially

SOURCE = "[" + "(1, [2, {3: 4}])," * 200 + "]"


class Garbage:
    """When the interpreter finds such, in the middle of whatever a thread does, it lets another thread run."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


@pytest.fixture
def _much_garbage():
    before = gc.get_threshold()
    gc.set_threshold(3)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_much_garbage")
@pytest.mark.slow
def test_threads_that_parse_at_once_all_get_what_they_asked_for():
    found, failures = [], []

    def read() -> None:
        try:
            for _ in range(20):
                _garbage = [Garbage() for _ in range(50)]
                del _garbage
                found.append(parse_serially(ast.parse, SOURCE))
        except SystemError as exc:
            failures.append(exc)

    readers = [threading.Thread(target=read) for _ in range(6)]
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    assert (len(found), failures) == (120, [])
