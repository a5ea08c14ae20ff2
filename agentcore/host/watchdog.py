"""Notices when code holds the event loop, and names the module whose code it is."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

import structlog

from agentcore.host.limits import LOOP_BLOCKED_SECONDS
from agentcore.host.ownership import owner_of_task

if TYPE_CHECKING:
    from agentcore.host.modules import ModuleRecord

log = structlog.get_logger(__name__)

_FRAMES = 12
_OF_A_CALL = ("call:", "preview:")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the event loop.

    Args:
        module: The module whose code it is; empty: nobody can tell.
        tool: The tool that was called, if it was one.
        place: Where in the module's code, `file:line in function`.
        frames: The way there from where the module's code begins, outermost first.
    """

    module: str = ""
    tool: str = ""
    place: str = ""
    frames: tuple[str, ...] = ()


class Watchdog:
    """A thread that looks at the event loop's thread when its heartbeat is late.

    Args:
        modules: Gives the modules whose code is looked for.
        on_blocked: Told in the event loop who held it and for how many seconds, when it is over.
    """

    def __init__(
        self, modules: Callable[[], Iterable["ModuleRecord"]], on_blocked: Callable[[Holder, float], None]
    ) -> None:
        self._modules, self._on_blocked = modules, on_blocked
        self._beat = time.monotonic()
        self._holder: Holder | None = None
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
        late_s = now - self._beat - LOOP_BLOCKED_SECONDS / 2
        self._beat = now
        holder, self._holder = self._holder, None
        if holder is not None and late_s > LOOP_BLOCKED_SECONDS / 2:
            log.warning(
                "event_loop_was_blocked", module=holder.module, tool=holder.tool, duration_ms=round(late_s * 1000)
            )
            self._on_blocked(holder, late_s)
        self._handle = self._loop.call_later(LOOP_BLOCKED_SECONDS / 2, self._tick)

    def _watch(self) -> None:
        while not self._ended.wait(LOOP_BLOCKED_SECONDS / 2):
            beat = self._beat
            if self._holder is None and time.monotonic() - beat > LOOP_BLOCKED_SECONDS:
                holder = self._find()
                if self._beat == beat:  # else it was over before the look, which then saw somebody else
                    self._holder = holder
                    self._tell(holder)

    def _tell(self, holder: Holder) -> None:
        if holder.module:
            log.warning("event_loop_blocked", module=holder.module, tool=holder.tool, frames=holder.frames)

    def _find(self) -> Holder:
        frames = _frames(sys._current_frames().get(self._loop_thread))  # noqa: SLF001
        task = asyncio.current_task(self._loop)
        name = "" if task is None else task.get_name()
        tool = next((name.removeprefix(start) for start in _OF_A_CALL if name.startswith(start)), "")
        for number, (file, _, _) in enumerate(frames):
            for module in list(self._modules()):
                if file.startswith(module.source_dirs):
                    shown = [frame for frame in frames[number:] if frame[0].startswith(module.source_dirs)]
                    return Holder(module.name, tool, _shown(shown[-1]), _end(frames[number:]))
        owner = "" if task is None else owner_of_task(task)
        return Holder(owner, tool if owner else "", frames=_end(frames))


_Frame = tuple[str, int, str]


def _frames(frame: FrameType | None) -> list[_Frame]:
    """File, line and function, outermost first."""
    found = []
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


def _end(frames: list[_Frame]) -> tuple[str, ...]:
    return tuple(map(_shown, frames[-_FRAMES:]))


def _shown(frame: _Frame) -> str:
    return "{}:{} in {}".format(*frame)
