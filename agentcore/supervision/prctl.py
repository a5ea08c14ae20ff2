"""Linux process attributes; on other systems these functions do nothing. Source: prctl(2), keyctl(2)."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
# System call numbers: the C library has no function for it.
_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280, "armv7l": 311, "i686": 288}
_JOIN_SESSION_KEYRING = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide_from_debuggers() -> None:
    """Hide this process's memory and descriptors from other processes of the user."""
    _prctl(_PR_SET_DUMPABLE, 0)


def leave_keyring() -> None:
    """Join a new, empty session keyring: the keys in the old one belong to the user who started the server.

    If the system refuses (a container that filters the call), a command cannot request keys either.
    """
    number = _KEYCTL.get(os.uname().machine)
    if sys.platform.startswith("linux") and number is not None:
        _LIBC.syscall(number, _JOIN_SESSION_KEYRING, None)


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        _LIBC.prctl(option, value, 0, 0, 0)
