"""Notification about, and reaping of, child processes that have ended."""

import contextlib
import os
import signal


def wake_on_children() -> int:
    """Return a descriptor that becomes readable when a child has ended."""
    woken, waking = os.pipe()
    for fd in (woken, waking):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    return woken


def drain_pipe(fd: int) -> None:
    """Discard what is in a non-blocking pipe."""
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 65536)


def ended_children() -> list[tuple[int, int]]:
    """Reap children that have ended, and return their process ids and wait statuses."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(one)
    return ended


def has_children() -> bool:
    """Return True if any child is left."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
