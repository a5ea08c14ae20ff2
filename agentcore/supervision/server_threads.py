"""Inspects the threads of another process: their processor time, and the stack of one of them."""

import contextlib
import ctypes
import os
import re
import select
import signal
import sys

from agentcore.supervision.blocking_module import Frame
from agentcore.supervision.descendants import send_to

SHOW_STACK = signal.SIGURG
"""Makes a thread of the server write its stack. It has no other use, and processes ignore it by default."""

_DUMP_BYTES = 64 * 1024
_DUMP_SECONDS = 0.5
_FRAME = re.compile(r'^  File "(.*)", line (\d+|\?\?\?) in (.*)$', re.MULTILINE)
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_LIBC = ctypes.CDLL(None)
_STOPPED = frozenset("Tt")
_RUNNABLE = "R"


class ServerThreads:
    """Samples the threads of a process.

    Args:
        pid: The process id.
        stacks: Descriptor from which the process's stacks are read.

    Attributes:
        busiest: Id of the thread that used the most processor time since the last sample; 0 if none used at least a
            quarter of the time.
    """

    def __init__(self, pid: int, stacks: int) -> None:
        self._pid = pid
        self._stacks = stacks
        self._used: dict[int, float] = {}
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self.busiest = 0

    def reset(self) -> None:
        """Reset the sampling: time used before the next sample does not count."""
        self._used = {}
        self.busiest = 0

    def measure_running_s(self, elapsed_s: float) -> float:
        """Measure how long the process could run since the last sample, in seconds.

        Time while it was stopped by a signal or a debugger does not count. While it waits for a processor, only the
        processor time that it got counts.
        """
        if not sys.platform.startswith("linux"):
            return 0.0 if _is_stopped(self._pid) else elapsed_s
        states = ""
        used = {}
        with contextlib.suppress(OSError):  # it has ended
            for name in os.listdir(f"/proc/{self._pid}/task"):  # noqa: PTH208
                with contextlib.suppress(OSError), open(f"/proc/{self._pid}/task/{name}/stat", "rb") as file:  # noqa: PTH123
                    # The program's name before it may contain spaces and parentheses; fields by proc(5).
                    fields = file.read().rpartition(b")")[2].split()
                    states += fields[0].decode()
                    used[int(name)] = (int(fields[11]) + int(fields[12])) * self._tick_s
        spent = {thread: now - self._used.get(thread, now) for thread, now in used.items()}
        self._used = used
        self.busiest = max(spent, key=spent.__getitem__, default=0)
        if spent.get(self.busiest, 0.0) < elapsed_s / 4:
            self.busiest = 0
        if states and set(states) <= _STOPPED:
            return 0.0
        return min(elapsed_s, sum(spent.values())) if _RUNNABLE in states else elapsed_s

    def read_stack(self, thread: int = 0) -> list[Frame]:
        """Read a thread's stack (0: the main thread), outermost frame first; empty if it does not respond.

        A C signal handler writes it, even while the GIL is held.
        """
        self._drain_pipe()
        if not (thread and _signal_thread(self._pid, thread)):
            send_to(SHOW_STACK, [self._pid])
        poll = select.poll()
        poll.register(self._stacks, select.POLLIN)
        text = b""
        while poll.poll(_DUMP_SECONDS * (100 if text else 1000)):
            chunk = os.read(self._stacks, _DUMP_BYTES)
            if not chunk:
                break
            text += chunk
        found = _FRAME.findall(text.decode("utf-8", "replace"))
        return [(_unescape_name(file), line, _unescape_name(function)) for file, line, function in reversed(found)]

    def _drain_pipe(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._stacks, _DUMP_BYTES):
                pass


def _unescape_name(name: str) -> str:
    """Restore a name's non-ASCII characters, which `faulthandler` writes as Python escapes."""
    return _ESCAPED.sub(lambda match: chr(int(match[match.lastindex or 0], 16)), name)


def _signal_thread(pid: int, thread: int) -> bool:
    """Signal one thread; False if the system cannot, so that the caller signals the process instead."""
    tgkill = getattr(_LIBC, "tgkill", None)
    return tgkill is not None and tgkill(pid, thread, int(SHOW_STACK)) == 0


def _is_stopped(pid: int) -> bool:
    with os.popen(f"/bin/ps -o state= -p {pid}") as answer:  # noqa: S605 - a number
        return answer.read().strip()[:1] in _STOPPED
