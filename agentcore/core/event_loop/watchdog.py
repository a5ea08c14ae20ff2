"""Detects code that blocks the event loop, and names its module."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import structlog

from agentcore.core.event_loop.clock import LoopClock
from agentcore.core.module_code.ownership import owner_of_task
from agentcore.core.module_code.stack import stack_of
from agentcore.core.module_code.threads import WorkerThread
from agentcore.limits import LOOP_BEAT_SECONDS, LOOP_BLOCKED_SECONDS
from agentcore.supervision.blocking_module import Holder, find_holder

log = structlog.get_logger(__name__)

_OF_A_CALL = ("call:", "preview:")


class ExternalWatcher(Protocol):
    """A process that watches from outside as well, and is notified of each check."""

    def record_beat(self) -> None:
        """The event loop has turned."""
        ...

    def record_watchdog_beat(self) -> None:
        """The thread that watches it has looked."""
        ...

    def report_holder(self, holder: Holder) -> None:
        """Report the code that blocks the loop now."""
        ...


class NoExternalWatcher:
    """Implements `ExternalWatcher` where there is no such process."""

    def record_beat(self) -> None:
        """See `ExternalWatcher`."""

    def record_watchdog_beat(self) -> None:
        """See `ExternalWatcher`."""

    def report_holder(self, holder: Holder) -> None:
        """See `ExternalWatcher`."""


class Watchdog:
    """A thread that checks the event loop's thread when its heartbeat is late.

    Args:
        folders: Returns the modules to search for, each with the prefixes of its file names.
        on_blocked: Called in the event loop with the blocking code and the duration in seconds, once it is over.
        outside: The process that watches as well.
    """

    def __init__(
        self,
        folders: Callable[[], Mapping[str, tuple[str, ...]]],
        on_blocked: Callable[[Holder, float], None],
        outside: ExternalWatcher,
    ) -> None:
        self._folders = folders
        self._on_blocked = on_blocked
        self._outside = outside
        self._beat = time.monotonic()
        self._holder: Holder | None = None
        self._held_s = 0.0
        self._imports = 0
        self._is_crowded = self._was_crowded = False
        self._ended = threading.Event()
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch the running event loop; again: nothing happens."""
        if self._handle is not None:
            return
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._clock = LoopClock.install(self._loop)
        self._clock.listeners.append(self._on_loop_turn)
        self._schedule_wake()
        WorkerThread(target=self._watch_loop, name="agentcore-watchdog", daemon=True).start()

    def record_holder(self, holder: Holder) -> None:
        """Record code that blocked the loop while no thread of this process could run, as seen by the guard."""
        self._holder = holder

    @contextmanager
    def during_imports(self) -> Iterator[None]:
        """Return a context in which threads import a lot: a late iteration that no module's code caused is not
        reported.

        The loop shares the interpreter with those threads, and on a busy machine each iteration waits for it. Code that
        blocks the loop meanwhile is reported as usual.
        """
        self._imports += 1
        try:
            yield
        finally:
            self._imports -= 1

    def stop(self) -> None:
        """Stop watching; may be called twice."""
        self._ended.set()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            self._clock.listeners.remove(self._on_loop_turn)

    def _schedule_wake(self) -> None:
        """Have the loop turn at least so often."""
        self._handle = self._loop.call_later(LOOP_BEAT_SECONDS, self._schedule_wake)

    def _on_loop_turn(self) -> None:
        now = time.monotonic()
        late_s = now - self._beat - LOOP_BEAT_SECONDS
        self._beat = now
        self._outside.record_beat()
        if self._held_s:
            self._report_blocked()
        # the turn in which an import has ended waited as well
        self._was_crowded = self._is_crowded
        self._is_crowded = self._imports > 0
        if late_s > LOOP_BLOCKED_SECONDS:
            self._held_s = late_s  # what the guard saw comes in after this turn, and is reported with the next
        else:
            self._holder = None

    def _report_blocked(self) -> None:
        holder = self._holder or Holder()
        self._holder = None
        held_s = self._held_s
        self._held_s = 0.0
        if not holder.module and (self._is_crowded or self._was_crowded):
            return
        log.warning("event_loop_was_blocked", module=holder.module, tool=holder.tool, duration_ms=round(held_s * 1000))
        self._on_blocked(holder, held_s)

    def _watch_loop(self) -> None:
        looked_at = time.monotonic()
        while not self._ended.wait(LOOP_BEAT_SECONDS):
            self._outside.record_watchdog_beat()
            former = looked_at
            looked_at = time.monotonic()
            beat = self._beat
            is_known = self._holder is not None or self._held_s > 0
            # a check that was delayed as well is too late, and would find other code
            if not is_known and looked_at - beat > LOOP_BLOCKED_SECONDS > looked_at - former:
                holder = self._find_holder()
                if holder.module and self._beat == beat:  # otherwise the guard, or a later check, may see more
                    self._holder = holder
                    self._publish_holder(holder)

    def _publish_holder(self, holder: Holder) -> None:
        self._outside.report_holder(holder)
        log.warning("event_loop_blocked", module=holder.module, tool=holder.tool, frames=holder.frames)

    def _find_holder(self) -> Holder:
        frames = stack_of(self._loop_thread)
        task = asyncio.current_task(self._loop)
        name = "" if task is None else task.get_name()
        tool = next((name.removeprefix(start) for start in _OF_A_CALL if name.startswith(start)), "")
        holder = find_holder(frames, self._folders())
        module = holder.module or ("" if task is None else owner_of_task(task))
        return holder._replace(module=module, tool=tool if module else "")
