"""Worker threads that never keep the process running: a sync tool that hangs must not block the exit."""

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from agentcore.limits import WORKER_THREADS

P = ParamSpec("P")
T = TypeVar("T")

_Job = tuple[Future[Any], Callable[[], Any]]


class WorkerThread(threading.Thread):
    """A thread of the core, which runs jobs of any module and belongs to none."""

    def start(self) -> None:
        """Start it in an empty context, so that it is not attributed to the module whose job needed it first."""
        Context().run(super().start)


class DaemonThreads(ThreadPoolExecutor):
    """An executor over daemon threads, created on demand and reused, up to a limit.

    The standard pool joins its threads at exit, so that one that hangs would block the exit too. It is the base class
    because asyncio accepts nothing else as default executor; none of its threads is ever started.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(max_workers=limit)
        self._limit = limit
        self._lock = threading.Lock()
        self._crew = _Crew()
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in a thread.

        Raises:
            RuntimeError: The executor was shut down.
        """
        future: Future[T] = Future()
        # attributes the job to its caller's module; `run_in_executor` does not pass the context on
        context = copy_context()
        with self._lock:
            if self._closed:
                raise RuntimeError("the worker threads are shut down")
            self._crew.submit_job((future, lambda: context.run(fn, *args, **kwargs)), self._limit)
        return future

    def release_threads(self) -> None:
        """End all threads, idle ones now and busy ones after their job, without waiting; later work gets new ones."""
        with self._lock:
            crew = self._crew
            self._crew = _Crew()
            crew.stop()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Release the threads, and refuse new work."""
        with self._lock:
            self._closed = True
            self._crew.stop()


class _Crew:
    """Threads that share a queue, and end together."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0

    def submit_job(self, job: _Job, limit: int) -> None:
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False) and self._started < limit:
            self._started += 1
            WorkerThread(target=self._run_jobs, name=f"agentcore-worker-{self._started}", daemon=True).start()

    def stop(self) -> None:
        for _ in range(self._started):
            self._jobs.put(None)

    def _run_jobs(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, run = job
            if future.set_running_or_notify_cancel():
                _run_job(future, run)
            del job, future, run
            self._idle.release()


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[DaemonThreads, int]] = WeakKeyDictionary()


@contextmanager
def worker_threads() -> Iterator[None]:
    """Have the running event loop's default executor be daemon threads, which end when the last user has left."""
    loop = asyncio.get_running_loop()
    threads, users = _of_loops.get(loop) or (DaemonThreads(WORKER_THREADS), 0)
    _of_loops[loop] = threads, users + 1
    loop.set_default_executor(threads)
    try:
        yield
    finally:
        threads, users = _of_loops[loop]
        _of_loops[loop] = threads, users - 1
        if users == 1:
            threads.release_threads()


def _run_job(future: Future[Any], run: Callable[[], Any]) -> None:
    try:
        result = run()
    except StopIteration as exc:
        # asyncio refuses it for its futures, and the waiting code would wait forever; coroutines do the same (PEP 479)
        stop = RuntimeError("the function raised StopIteration")
        stop.__cause__ = exc
        future.set_exception(stop)
    except BaseException as exc:  # noqa: BLE001 - a worker survives any exception of its job
        future.set_exception(exc)
    else:
        future.set_result(result)
