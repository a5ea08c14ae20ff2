"""Finds processes that wait for typed input, by the system calls that they are in; where /proc does not tell, none."""

import os
from collections.abc import Iterator
from contextlib import suppress

from agentcore.supervision.descendants import list_descendants

_READ = {"x86_64": 0, "aarch64": 63, "riscv64": 63, "loongarch64": 63, "ppc64le": 3, "s390x": 3, "armv7l": 3}
"""Number of the system call read(2) by architecture."""

_PROCESSES = 200
"""How many processes of one command are looked at."""

_THREADS = 20
"""How many threads of one process are looked at."""


def waits_for_terminal(root: int, device: int) -> bool:
    """Return True if a descendant of a process reads from a terminal and waits because nothing was typed.

    Args:
        root: The process.
        device: The terminal, as `st_rdev`.
    """
    return any(_reads_terminal(pid, device) for pid in list_descendants(root)[:_PROCESSES])


def _reads_terminal(pid: int, device: int) -> bool:
    return any(_is_terminal(pid, fd, device) for fd in _list_read_descriptors(pid))


def _list_read_descriptors(pid: int) -> Iterator[int]:
    """Yield the descriptor that each thread of a process is blocked reading from."""
    with suppress(OSError):  # it has ended, or may not be looked at
        for thread in os.listdir(f"/proc/{pid}/task")[:_THREADS]:  # noqa: PTH208
            with open(f"/proc/{pid}/task/{thread}/syscall", "rb") as file:  # noqa: PTH123
                number, *arguments = file.read().split()  # `running`, or the number and arguments in hexadecimal
            if arguments and number.isdigit() and int(number) == _READ.get(os.uname().machine):
                yield int(arguments[0], 16)


def _is_terminal(pid: int, fd: int, device: int) -> bool:
    with suppress(OSError):
        return os.stat(f"/proc/{pid}/fd/{fd}").st_rdev == device  # noqa: PTH116
    return False
