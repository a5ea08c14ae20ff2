"""Worker threads that never keep the process alive: a sync tool that hangs must not stop the exit."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_Job = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(ThreadPoolExecutor):
    """An executor over daemon threads, made when needed and reused, up to a bound.

    The standard pool joins its threads at exit, so that one that hangs would hang the exit too. It is the base class
    because asyncio takes nothing else as default executor; none of its threads is ever made.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(max_workers=limit)
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._started = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in a thread.

        Raises:
            RuntimeError: The executor was shut down.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the worker threads are shut down")
            self._jobs.put((future, lambda: fn(*args, **kwargs)))
            if not self._idle.acquire(blocking=False) and self._started < self._limit:
                self._started += 1
                threading.Thread(target=self._work, name=f"agentcore-worker-{self._started}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let idle threads end; busy ones end with their job, and nobody waits for them."""
        with self._lock:
            self._closed = True
            for _ in range(self._started):
                self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, run = job
            if future.set_running_or_notify_cancel():
                _settle(future, run)
            del job, future, run
            self._idle.release()


def _settle(future: Future[Any], run: Callable[[], Any]) -> None:
    try:
        result = run()
    except BaseException as exc:  # noqa: BLE001 - a worker outlives whatever its job raises
        future.set_exception(exc)
    else:
        future.set_result(result)
