"""Finds, signals and kills all descendants of a process."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator

_FREEZE_ROUNDS = 50
_COMMAND_CHARS = 200
_SLEEPING = frozenset((b"S", b"I", b"T", b"t", b"Z"))
"""States of proc(5) in which a thread does nothing; one in disk sleep (`D`) is inside a system call."""
_HAS_CHILDREN_FILES = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")  # noqa: PTH110


def kill_all_below(root: int) -> None:
    """Stop all descendants of a process, so that they cannot fork any more, and kill them."""
    frozen: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        found = set(list_descendants(root)) - frozen
        if not found:
            break
        send_to(signal.SIGSTOP, found)
        frozen |= found
    send_to(signal.SIGKILL, frozen)


def send_to(number: int, pids: Iterable[int]) -> None:
    """Signal processes, and ignore those that have already ended or belong to another user."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            os.kill(pid, number)


def list_commands(pids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield id and command line (truncated; the name if it is empty) of each process that still runs."""
    for pid in pids:
        command = _command_by_proc(pid) if sys.platform.startswith("linux") else _command_by_ps(pid)
        if command:
            yield pid, command if len(command) <= _COMMAND_CHARS else f"{command[:_COMMAND_CHARS]}…"


def read_start_time(pid: int) -> str:
    """Return a process's start time, which detects reuse of its pid; empty if it has ended or the time is unknown."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        # The program's name before it may contain spaces and parentheses; fields by proc(5).
        fields = file.read().rpartition(b")")[2].split()
        return "" if fields[0] == b"Z" else fields[19].decode()
    return ""


def read_rest(root: int) -> frozenset[tuple[int, str, str]] | None:
    """Read the context switch counts of all threads below a process if all of them sleep.

    Two equal results prove that none of them has run in between, because each wake-up changes the counts.

    Returns:
        Thread id, start time and counts of each; None if one of them runs, or the system does not provide the counts.
    """
    found: set[tuple[int, str, str]] = set()
    try:
        for pid in list_descendants(root):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                with open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
                with open(f"/proc/{pid}/task/{thread}/status", "rb") as file:  # noqa: PTH123
                    counts = b" ".join(line for line in file.read().split(b"\n") if b"ctxt_switches" in line)
                if fields[0] not in _SLEEPING or not counts:
                    return None
                found.add((int(thread), fields[19].decode(), counts.decode()))
    except OSError:  # one has ended in the meantime
        return None
    return frozenset(found)


def list_descendants(root: int) -> list[int]:
    """List all descendants of a process; may miss some that start or lose their parent during the call."""
    children_of = _read_children if _HAS_CHILDREN_FILES else _map_children()
    found: list[int] = []
    ahead = [root]
    while ahead:
        own = children_of(ahead.pop())
        found += own
        ahead += own
    return found


def _read_children(parent: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def _map_children() -> Callable[[int], list[int]]:
    """Build a lookup of children from the parent of each process, for kernels that do not list children."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents_by_proc() if sys.platform.startswith("linux") else _parents_by_ps():
        children.setdefault(parent, []).append(pid)
    return lambda parent: children.get(parent, [])


def _parents_by_proc() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            # The program's name before it may contain spaces and parentheses.
            yield int(name), int(file.read().rpartition(b")")[2].split()[1])


def _parents_by_ps() -> Iterator[tuple[int, int]]:
    with os.popen("/bin/ps -axo pid=,ppid=") as lines:  # noqa: S605
        for line in lines:
            pid, parent = map(int, line.split())
            yield pid, parent


def _command_by_proc(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        name, _, fields = file.read().rpartition(b")")
        if fields.split()[0] == b"Z":
            return ""
        with open(f"/proc/{pid}/cmdline", "rb") as arguments:  # noqa: PTH123
            words = arguments.read().rstrip(b"\0").split(b"\0")
        return b" ".join(words).decode("utf-8", "replace") or name.partition(b"(")[2].decode("utf-8", "replace")
    return ""


def _command_by_ps(pid: int) -> str:
    with os.popen(f"/bin/ps -o command= -p {pid}") as lines:  # noqa: S605
        return lines.read().strip()
