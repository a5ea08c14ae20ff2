"""Keeps the keys of this process from other processes of the same user: they could read them in /proc."""

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

from agentcore.secrets import is_secret_variable

_PR_SET_DUMPABLE = 4
# fields 50 and 51 of /proc/PID/stat, counted after the program's name, which is the second (proc(5))
_ENV_START = 50 - 3
_ENV_END = 51 - 3


def hide_secrets() -> None:
    """Remove keys from the environment of this process as the system shows it, and block access to its memory.

    `os.environ` keeps them: only the block that the process was started with is wiped. On systems other than Linux
    nothing is done; there, other processes of the user see no environment, or only the system can block them.
    """
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, ValueError):  # a system that hides /proc has nothing to wipe
        _wipe_secrets(*_locate_environment())
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _locate_environment() -> tuple[int, int]:
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start = int(fields[_ENV_START])
    end = int(fields[_ENV_END])
    if not 0 < start < end or end - start > os.sysconf("SC_ARG_MAX"):
        raise ValueError("no environment block")
    return start, end


def _wipe_secrets(start: int, end: int) -> None:
    place = start
    for entry in ctypes.string_at(start, end - start).split(b"\0"):
        name, _, value = entry.partition(b"=")
        if value and is_secret_variable(os.fsdecode(name), os.fsdecode(value)):
            ctypes.memset(place + len(name) + 1, 0, len(value))
        place += len(entry) + 1
