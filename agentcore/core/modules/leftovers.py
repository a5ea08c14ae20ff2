"""Finds what a module leaves behind when it is released, and ends it if that affects nothing else."""

import asyncio
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from agentcore.core.module_code.containment import is_abandoned
from agentcore.core.module_code.ownership import (
    children_of,
    is_running_child,
    owner_of_context,
    owner_of_task,
    owner_of_thread,
)
from agentcore.core.module_code.stack import stack_of
from agentcore.core.module_code.threads import WorkerThread
from agentcore.late_dataclasses import dataclass
from agentcore.limits import CANCEL_GRACE_SECONDS
from agentcore.supervision.descendants import list_descendants, read_start_time, send_to

_CORE = str(Path(__file__).resolve().parents[2])
_DESCRIPTORS = next((folder for folder in ("/proc/self/fd", "/dev/fd") if Path(folder).is_dir()), "")
_SIGNALS = tuple(signal.valid_signals())
_LOOK_AGAIN_SECONDS = 0.02
_COMMAND_CHARS = 80


class Surroundings:
    """The state of the process when a module starts, for comparison with what it leaves."""

    def __init__(self) -> None:
        self.descriptors = _list_descriptors()
        self.signals = {number: signal.getsignal(number) for number in _SIGNALS}
        self.log_handlers = list(logging.getLogger().handlers)
        self.path = list(sys.path)


@dataclass(frozen=True, slots=True)
class RunPeriod:
    """The time in which a module ran.

    Args:
        before: The state at its start.
        after: The state at its end; None: it is running.
    """

    before: Surroundings
    after: Surroundings | None

    def may_have_left(self, is_there: Callable[[Surroundings], bool]) -> bool:
        """True if something appeared while it ran, and was still there when it ended."""
        return not is_there(self.before) and (self.after is None or is_there(self.after))


async def clear_up(
    owners: Collection[str],
    source_dirs: tuple[str, ...],
    before: Surroundings | None,
    others: Sequence[RunPeriod],
    state: Path,
) -> list[str]:
    """Find what a released module has left, end its tasks and processes, and restore signal handlers.

    Args:
        owners: Its name, and those of stopped modules that share its code, since they may share objects.
        source_dirs: The folders of its code.
        before: The state when it started; None: it never did.
        others: When modules ran that are not among the owners: what may be theirs is not attributed to it.
        state: The state folder, in which the core opens its own files.
    Returns:
        A short description of each. What cannot be ended from outside, such as a thread, continues.
    """
    return [
        *await _end_tasks(owners, source_dirs),
        *_find_threads(owners, source_dirs),
        *await _end_children(owners),
        *_find_watched(owners),
        *([] if before is None else _find_opened(owners, before, others, state)),
        *([] if before is None else _find_changes(source_dirs, before, others)),
    ]


async def _end_tasks(owners: Collection[str], source_dirs: tuple[str, ...]) -> list[str]:
    left = [
        task
        for task in asyncio.all_tasks()
        if task is not asyncio.current_task() and _is_its_task(task, owners, source_dirs)
    ]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=CANCEL_GRACE_SECONDS)
    return [
        f"the task {task.get_name()!r}, {'now cancelled' if task.done() else 'which refuses to be cancelled'}"
        for task in left
    ]


def _is_its_task(task: "asyncio.Task[Any]", owners: Collection[str], source_dirs: tuple[str, ...]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    file = "" if code is None else code.co_filename
    if file.startswith(source_dirs):
        return True
    # tasks that the core started while the module's code ran belong to the core, but not its own call that does not end
    return owner_of_task(task) in owners and (is_abandoned(task) or not file.startswith(_CORE))


def _find_threads(owners: Collection[str], source_dirs: tuple[str, ...]) -> Iterator[str]:
    for thread in threading.enumerate():
        if thread is threading.current_thread():
            continue
        own = [f", at {file}:{line}" for file, line, _ in stack_of(thread.ident or 0) if file.startswith(source_dirs)]
        where = own[-1] if own else ""
        if isinstance(thread, WorkerThread):
            if where:
                yield f"a call in a thread that goes on{where}"
        elif where or owner_of_thread(thread) in owners:
            yield f"the thread {thread.name!r}{where}"


async def _end_children(owners: Collection[str]) -> list[str]:
    left = {pid: _command_of(pid) for pid in children_of(owners)}
    whole = {each: read_start_time(each) for pid in left for each in (pid, *list_descendants(pid))}
    send_to(signal.SIGTERM, left)
    with suppress(TimeoutError):
        async with asyncio.timeout(CANCEL_GRACE_SECONDS):
            while any(map(is_running_child, left)):  # noqa: ASYNC110 - there is no notification of the end of a process
                await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    send_to(signal.SIGKILL, [pid for pid, birth in whole.items() if birth and read_start_time(pid) == birth])
    send_to(signal.SIGKILL, children_of(owners))
    return [f"the process {pid} ({command}), now ended" for pid, command in left.items()]


def _command_of(pid: int) -> str:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b" ".join(words).decode("utf-8", "replace").strip()[:_COMMAND_CHARS]
    return "?"


def _find_watched(owners: Collection[str]) -> Iterator[str]:
    """Sockets and pipes that the event loop watches on the module's behalf, and its signals."""
    loop: Any = asyncio.get_running_loop()
    for key in list(loop._selector.get_map().values()):  # noqa: SLF001
        handles = [handle for handle in key.data or () if handle is not None]
        if any(owner_of_context(handle._context) in owners for handle in handles):  # noqa: SLF001
            yield _describe_socket(key.fd)
    for number, handle in list(getattr(loop, "_signal_handlers", {}).items()):
        if owner_of_context(handle._context) in owners:  # noqa: SLF001
            yield f"a handler of {signal.Signals(number).name} in the event loop"


def _find_opened(
    owners: Collection[str], before: Surroundings, others: Sequence[RunPeriod], state: Path
) -> Iterator[str]:
    watched = {key.fd for key in asyncio.get_running_loop()._selector.get_map().values()}  # type: ignore[attr-defined]  # noqa: SLF001
    for fd, what in _list_descriptors().items():
        if before.descriptors.get(fd) == what or fd in watched or not (opened := _describe_lasting(fd, state)):
            continue
        keeper = _owner_of_file(fd, state)
        if keeper in owners or (not keeper and not _may_be_theirs(others, partial(_has_descriptor, fd, what))):
            yield f"{opened}, open since it was started"


def _find_changes(source_dirs: tuple[str, ...], before: Surroundings, others: Sequence[RunPeriod]) -> Iterator[str]:
    for number, former in before.signals.items():
        handler = signal.getsignal(number)
        code = getattr(handler, "__code__", None)
        if handler is not former and code is not None and code.co_filename.startswith(source_dirs):
            signal.signal(number, former)
            yield f"a handler of {signal.Signals(number).name}, now taken back"
    for writer in logging.getLogger().handlers:
        is_hosts = type(writer).__module__.startswith("agentcore.")
        if (
            writer not in before.log_handlers
            and not is_hosts
            and not _may_be_theirs(others, partial(_has_handler, writer))
        ):
            yield f"a {type(writer).__name__} at the root logger, added since it was started"
    for folder in sys.path:
        if folder not in before.path and not _may_be_theirs(others, partial(_has_folder, folder)):
            yield f"{folder} in sys.path, added since it was started"


def _may_be_theirs(others: Sequence[RunPeriod], is_there: Callable[[Surroundings], bool]) -> bool:
    return any(other.may_have_left(is_there) for other in others)


def _has_descriptor(fd: int, what: str, surroundings: Surroundings) -> bool:
    return surroundings.descriptors.get(fd) == what


def _has_handler(writer: logging.Handler, surroundings: Surroundings) -> bool:
    return writer in surroundings.log_handlers


def _has_folder(folder: str, surroundings: Surroundings) -> bool:
    return folder in surroundings.path


def _owner_of_file(fd: int, state: Path) -> str:
    """Return the module whose data folder contains a file; empty: none."""
    with suppress(OSError):
        path = Path(f"{_DESCRIPTORS}/{fd}").readlink()
        if path.is_relative_to(state / "data"):
            return path.relative_to(state / "data").parts[0]
    return ""


def _list_descriptors() -> dict[int, str]:
    found = {}
    for name in os.listdir(_DESCRIPTORS) if _DESCRIPTORS else ():  # noqa: PTH208
        with suppress(OSError):  # the one that lists them
            status = os.fstat(int(name))
            found[int(name)] = f"{status.st_dev}:{status.st_ino}"
    return found


def _describe_lasting(fd: int, state: Path) -> str:
    """Describe a descriptor if it is a file on disk or a listening socket; others belong to the core's own
    operation."""
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISSOCK(mode):
            with socket.socket(fileno=os.dup(fd)) as opened:
                listens = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            return _describe_socket(fd) if listens else ""
        if stat.S_ISREG(mode):
            path = Path(f"{_DESCRIPTORS}/{fd}").readlink()
            is_hosts = path.is_relative_to(state) and not path.is_relative_to(state / "data")
            return "" if is_hosts or str(path).startswith("/memfd:") else f"the file {path}"
    except OSError:
        pass
    return ""


def _describe_socket(fd: int) -> str:
    try:
        with socket.socket(fileno=os.dup(fd)) as opened:
            address = opened.getsockname()
            listens = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError:
        return f"a pipe (descriptor {fd})"
    where = f" at {address[0]}:{address[1]}" if isinstance(address, tuple) else ""
    return f"a socket{' that listens' if listens else ''}{where}"
