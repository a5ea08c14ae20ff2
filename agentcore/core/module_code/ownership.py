"""Records which module started something: a task, a thread, a child process, a callback of the event loop.

The core sets the module that it enters in a context variable, which asyncio copies into everything that is started from
there. Threads and processes have no context; they are recorded when they start.
"""

import asyncio
import gc
import inspect
import os
import subprocess
import sys
import threading
from collections.abc import Collection
from contextvars import Context, ContextVar
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

OWNER: ContextVar[str] = ContextVar("agentcore_module", default="")
"""The module whose code runs; empty: the core's own."""

CALL: ContextVar[str] = ContextVar("agentcore_call", default="")
"""The call in which that code runs; empty: in none."""

_threads: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
_children: dict[int, str] = {}
_start_thread = threading.Thread.start
_start_process = subprocess.Popen.__init__
_lock = threading.Lock()
_MANY = 256


def track_owners() -> None:
    """Note from now on who starts threads and processes in this interpreter; again: nothing happens."""
    threading.Thread.start = _start_tracked_thread  # type: ignore[method-assign,assignment]
    subprocess.Popen.__init__ = _start_tracked_process  # type: ignore[method-assign,assignment]


def current_owner() -> str:
    """The module whose code asks, in its tasks and in threads that it has started; empty: none's."""
    return OWNER.get() or _threads.get(threading.current_thread(), "")


def owner_of_context(context: Context | None) -> str:
    """The module from whose code an object with a context was started; empty: none."""
    return "" if context is None else context.get(OWNER, "")


def owner_of_task(task: asyncio.Task[Any]) -> str:
    """The module from whose code a task was started; empty: none."""
    # before Python 3.12 only the garbage collector knows the context of a task
    found = (each for each in gc.get_referents(task) if isinstance(each, Context))
    return owner_of_context(next(found, None))


def owner_of_thread(thread: threading.Thread) -> str:
    """The module that started a thread; empty: none did, or it started before recording began."""
    return _threads.get(thread, "")


def children_of(owners: Collection[str]) -> set[int]:
    """Ids of processes that modules have started with `subprocess` or asyncio, and that have not ended."""
    with _lock:
        return {pid for pid, name in _children.items() if name in owners and is_running_child(pid)}


def is_running_child(pid: int) -> bool:
    """True if a process is a child of this one, and has not ended. Does not reap it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _start_tracked_thread(thread: threading.Thread) -> None:
    if owner := current_owner():
        _threads[thread] = owner
    _start_thread(thread)


def _start_tracked_process(process: "subprocess.Popen[Any]", *arguments: Any, **options: Any) -> None:
    _start_process(process, *arguments, **options)
    with _lock:
        _children.pop(process.pid, None)  # another process may have had this id
        if owner := current_owner():
            if len(_children) >= _MANY:
                ended = [pid for pid in _children if not is_running_child(pid)]
                for pid in ended:
                    del _children[pid]
            _children[process.pid] = owner


def source_dirs(target: Any) -> tuple[str, ...]:
    """The folder of the package that a class or an object is from, or its file: code from there is the module's own."""
    # of a function, which makes the modules of a family, its own module and not that of functions
    kind = target if isinstance(target, type) or inspect.isfunction(target) else type(target)
    module = target if inspect.ismodule(target) else sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return ()
    return (f"{Path(file).parent}/",) if Path(file).name == "__init__.py" or _has_package(module) else (file,)


def _has_package(module: Any) -> bool:
    return bool(getattr(module, "__package__", ""))
