"""All that comes of a process: found, signalled, and ended."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator

_FREEZE_ROUNDS = 50
_COMMAND_CHARS = 200
_SLEEPING = frozenset((b"S", b"I", b"T", b"t", b"Z"))
"""States of proc(5) in which a thread does nothing; one that waits for a disk (`D`) is amid a call of the system."""
_HAS_CHILDREN_FILES = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")  # noqa: PTH110


def kill_all_below(root: int) -> None:
    """Stop everything below a process, so that it cannot fork any more, and kill it."""
    frozen: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        found = set(list_descendants(root)) - frozen
        if not found:
            break
        send_to(signal.SIGSTOP, found)
        frozen |= found
    send_to(signal.SIGKILL, frozen)


def send_to(number: int, pids: Iterable[int]) -> None:
    """Signal processes; those that have ended meanwhile are no error."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            os.kill(pid, number)


def list_commands(pids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The command line of each process that still runs, cut where it is long; of one that has none, its name."""
    for pid in pids:
        command = _command_by_proc(pid) if sys.platform.startswith("linux") else _command_by_ps(pid)
        if command:
            yield pid, command if len(command) <= _COMMAND_CHARS else f"{command[:_COMMAND_CHARS]}…"


def read_start_time(pid: int) -> str:
    """What tells a process from another one that gets its id later; empty: it has ended, or the system does not say."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        # a program's name in front of it may hold blanks and brackets; fields by proc(5)
        fields = file.read().rpartition(b")")[2].split()
        return "" if fields[0] == b"Z" else fields[19].decode()
    return ""


def read_rest(root: int) -> frozenset[tuple[int, str, str]] | None:
    """How often each thread below a process was given the processor so far, where all of them sleep.

    Two equal results say that none of them has run in between: whoever wakes up and sleeps again has changed its count.

    Returns:
        Thread id, birth and counts of each; None: one of them runs, or the system does not say.
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
    except OSError:  # one has ended meanwhile
        return None
    return frozenset(found)


def list_descendants(root: int) -> list[int]:
    """All descendants of a process, as far as they do not come and go at this moment."""
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
    """Where the kernel does not list a process's children, everybody is asked for the parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents_by_proc() if sys.platform.startswith("linux") else _parents_by_ps():
        children.setdefault(parent, []).append(pid)
    return lambda parent: children.get(parent, [])


def _parents_by_proc() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            # a program's name in front of it may hold blanks and brackets
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
