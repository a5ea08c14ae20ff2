"""The children of this process: hearing that one has ended, and who it was."""

import contextlib
import os
import signal


def wake_on_children() -> int:
    """A descriptor that becomes readable when a child has ended."""
    woken, waking = os.pipe()
    for fd in (woken, waking):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    return woken


def drain_pipe(fd: int) -> None:
    """Take note that it was readable."""
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 65536)


def ended_children() -> list[tuple[int, int]]:
    """Process ids and wait statuses of those that have ended and are not told of yet."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(one)
    return ended


def has_children() -> bool:
    """Whether any is left."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
