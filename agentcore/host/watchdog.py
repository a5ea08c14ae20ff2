"""Notices when code holds the event loop, and names the module whose code it is."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TYPE_CHECKING

import structlog

from agentcore.host.limits import LOOP_BLOCKED_SECONDS

if TYPE_CHECKING:
    from agentcore.host.modules import ModuleRecord

log = structlog.get_logger(__name__)


class Watchdog:
    """A thread that looks at the event loop's thread when its heartbeat is late.

    Args:
        modules: Gives the modules whose code is looked for.
        on_blocked: Told in the event loop of the module's name (None: unknown) and the seconds, when it is over.
    """

    def __init__(
        self, modules: Callable[[], Iterable["ModuleRecord"]], on_blocked: Callable[[str | None, float], None]
    ) -> None:
        self._modules, self._on_blocked = modules, on_blocked
        self._beat = time.monotonic()
        self._culprit: str | None = None
        self._was_late = False
        self._ended = threading.Event()
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._tick()
        threading.Thread(target=self._watch, name="agentcore-watchdog", daemon=True).start()

    def stop(self) -> None:
        """End watching; may be called twice."""
        self._ended.set()
        if self._handle is not None:
            self._handle.cancel()

    def _tick(self) -> None:
        now = time.monotonic()
        late = now - self._beat - LOOP_BLOCKED_SECONDS / 2
        self._beat = now
        if self._was_late and late > LOOP_BLOCKED_SECONDS / 2:
            self._was_late = False
            log.warning("event_loop_blocked", module=self._culprit, duration_ms=round(late * 1000))
            self._on_blocked(self._culprit, late)
        self._handle = self._loop.call_later(LOOP_BLOCKED_SECONDS / 2, self._tick)

    def _watch(self) -> None:
        while not self._ended.wait(LOOP_BLOCKED_SECONDS / 2):
            is_late = time.monotonic() - self._beat > LOOP_BLOCKED_SECONDS
            if is_late and not self._was_late:
                self._culprit = self._find(sys._current_frames().get(self._loop_thread))  # noqa: SLF001
            self._was_late = self._was_late or is_late

    def _find(self, frame: FrameType | None) -> str | None:
        modules = list(self._modules())
        while frame is not None:
            file = frame.f_code.co_filename
            for module in modules:
                if file.startswith(module.source_dirs):
                    return module.name
            frame = frame.f_back
        return None
