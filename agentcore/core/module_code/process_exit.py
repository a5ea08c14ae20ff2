"""The end of a process in which code of modules ran: bounded, whatever they have left in it."""

import asyncio
import atexit
import faulthandler
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import structlog

from agentcore.limits import CANCEL_GRACE_SECONDS, EXIT_SECONDS
from agentcore.supervision.descendants import kill_all_below, list_descendants

log = structlog.get_logger(__name__)


@contextmanager
def bounded_runner() -> Iterator[asyncio.Runner]:
    """An event loop that comes to its end although tasks refuse to be cancelled; those are abandoned, and named."""
    runner = asyncio.Runner()
    try:
        yield runner
    finally:
        if runner.run(_end_tasks()):
            runner.close()


async def _end_tasks() -> bool:
    """Cancel all tasks; True if they have ended. A loop with others cannot be closed, because it would wait for
    them."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        _, left = await asyncio.wait(left, timeout=CANCEL_GRACE_SECONDS)
    for task in left:
        log.warning("task_abandoned", task=task.get_name(), grace_s=CANCEL_GRACE_SECONDS)
    return not left


def exit_process(code: int) -> NoReturn:
    """End this process: its children, the functions that were registered for the exit, and no waiting for threads.

    Args:
        code: The exit code, also where those functions do not come to an end.
    """
    threading.Thread(target=_exit_late, args=(code,), daemon=True).start()
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        # a C thread, for code that keeps the interpreter's lock; its exit code is 1
        faulthandler.dump_traceback_later(2 * EXIT_SECONDS, exit=True, file=nowhere)
        atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter calls as well
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # nothing reads it any more
                stream.flush()
        exit_now(code)


def exit_now(code: int) -> NoReturn:
    """End this process and all its children at once."""
    if list_descendants(os.getpid()):
        kill_all_below(os.getpid())
    os._exit(code)


def _exit_late(code: int) -> None:
    if not threading.Event().wait(EXIT_SECONDS):
        exit_now(code)
