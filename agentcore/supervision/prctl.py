"""What Linux lets a process say about itself; elsewhere nothing happens. Source: prctl(2)."""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide_from_debuggers() -> None:
    """Keep memory and descriptors from other processes of this user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        _LIBC.prctl(option, value, 0, 0, 0)
