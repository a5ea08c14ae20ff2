"""The threads of another process, as the system shows them: what they use, and where one of them is."""

import contextlib
import ctypes
import os
import re
import select
import signal
import sys

from agentcore.supervision.descendants import send_to
from agentcore.supervision.holder import Frame

SHOW_STACK = signal.SIGURG
"""Has a thread of the server write its stack. Nobody else uses it, and by default a process takes no notice of it."""

_DUMP_BYTES = 64 * 1024
_DUMP_SECONDS = 0.5
_FRAME = re.compile(r'^  File "(.*)", line (\d+|\?\?\?) in (.*)$', re.MULTILINE)
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_LIBC = ctypes.CDLL(None)
_STOPPED = frozenset("Tt")
_RUNNABLE = "R"


class ServerThreads:
    """Looks at the threads of a process again and again.

    Args:
        stacks: Where it writes stacks to.

    Attributes:
        busiest: The thread that has used most of the time since the last look; 0: none has used much.
    """

    def __init__(self, pid: int, stacks: int) -> None:
        self._pid = pid
        self._stacks = stacks
        self._used: dict[int, float] = {}
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self.busiest = 0

    def reset(self) -> None:
        """Begin anew: what was used before the next look does not count."""
        self._used = {}
        self.busiest = 0

    def measure_running_s(self, elapsed_s: float) -> float:
        """For how much of the time since the last look the process could run, in seconds.

        Not while it was stopped by a signal or a debugger; and where it wants a processor, as long as it had one.
        """
        if not sys.platform.startswith("linux"):
            return 0.0 if _is_stopped(self._pid) else elapsed_s
        states = ""
        used = {}
        with contextlib.suppress(OSError):  # it has ended
            for name in os.listdir(f"/proc/{self._pid}/task"):  # noqa: PTH208
                with contextlib.suppress(OSError), open(f"/proc/{self._pid}/task/{name}/stat", "rb") as file:  # noqa: PTH123
                    # a program's name in front of it may hold blanks and brackets; fields by proc(5)
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
        """Where a thread is (0: the main one), outermost first; empty: it does not say.

        A handler in C writes it, whoever holds the interpreter's lock.
        """
        self._drain_pipe()
        if not (thread and _signal_thread(self._pid, thread)):
            send_to(SHOW_STACK, [self._pid])
        poll = select.poll()
        poll.register(self._stacks, select.POLLIN)
        text = b""
        while poll.poll(_DUMP_SECONDS * (100 if text else 1000)):
            piece = os.read(self._stacks, _DUMP_BYTES)
            if not piece:
                break
            text += piece
        found = _FRAME.findall(text.decode("utf-8", "replace"))
        return [(_unescape_name(file), line, _unescape_name(function)) for file, line, function in reversed(found)]

    def _drain_pipe(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._stacks, _DUMP_BYTES):
                pass


def _unescape_name(name: str) -> str:
    """A name with all its letters: `faulthandler` writes those beyond ASCII as Python escapes them."""
    return _ESCAPED.sub(lambda match: chr(int(match[match.lastindex or 0], 16)), name)


def _signal_thread(pid: int, thread: int) -> bool:
    """Whether the signal went to that thread: where the system has no way to, the main thread gets it."""
    tgkill = getattr(_LIBC, "tgkill", None)
    return tgkill is not None and tgkill(pid, thread, int(SHOW_STACK)) == 0


def _is_stopped(pid: int) -> bool:
    with os.popen(f"/bin/ps -o state= -p {pid}") as answer:  # noqa: S605 - a number
        return answer.read().strip()[:1] in _STOPPED
