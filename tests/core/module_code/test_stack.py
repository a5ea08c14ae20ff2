"""Where another thread is, read while it runs on."""

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest

from agentcore.core.module_code.stack import stack_of

LOOKS = 5_000


@pytest.fixture
def restless() -> Iterator[threading.Thread]:
    """A thread that calls and returns all the time, in functions, coroutines and generators, and often gives way."""
    is_over, begun = threading.Event(), threading.Event()

    def call(depth: int) -> None:
        if depth:
            call(depth - 1)

    def generate(depth: int) -> Iterator[int]:
        if depth:
            yield from generate(depth - 1)
        yield depth

    async def wait(depth: int) -> None:
        await (wait(depth - 1) if depth else asyncio.sleep(0))

    async def turn() -> None:
        begun.set()
        while not is_over.is_set():
            call(60)
            list(generate(30))
            await asyncio.gather(*(wait(30) for _ in range(5)))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=lambda: asyncio.run(turn()))
    thread.start()
    try:
        begun.wait()
        yield thread
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(before)


@pytest.mark.slow
def test_stack_of_a_thread_that_runs_on_is_whole_at_each_look(restless):
    looks = [stack_of(restless.ident) for _ in range(LOOKS)]
    assert {look[0][2] for look in looks} == {"_bootstrap"}
    assert len({len(look) for look in looks}) > 1, "it was looked at in one place only"


def test_stack_names_file_line_and_function_also_in_a_folder_with_letters_of_any_script():
    source = "def wait(entered, is_over):\n    entered.set()\n    is_over.wait()\n"
    names: dict = {}
    exec(compile(source, "/módulos/工具/halt.py", "exec"), names)
    entered, is_over = threading.Event(), threading.Event()
    thread = threading.Thread(target=names["wait"], args=(entered, is_over))
    thread.start()
    try:
        entered.wait()
        found = next(frame for frame in stack_of(thread.ident) if frame[2] == "wait")
    finally:
        is_over.set()
        thread.join()
    assert found[0] == "/módulos/工具/halt.py"
    assert found[1] in ("2", "3")


def test_number_of_no_thread_has_no_stack():
    assert stack_of(0) == []
