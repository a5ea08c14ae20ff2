"""`Output`: the output of a process, recorded per stream and in the order of a screen."""

import asyncio
from collections.abc import Callable

from agentcore.api import Recording, SupervisedProcess, Track
from agentcore_shell_tools.limits import SCREEN_BYTES, SCREEN_LINES, STREAM_BYTES, STREAM_LINES, WHOLE_BYTES

_QUIET_S = 0.02
"""Minimum time between two wake-ups: waiters process a flood of output at this rate, not block by block."""


class Bell:
    """Wakes the waiters for a change: at once after a pause, and at most every `_QUIET_S` seconds.

    Args:
        listen: Called when a task starts to wait; `notify_waiters` must be called on the next change after it.
    """

    def __init__(self, listen: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._listen = listen
        self._waiting: set[asyncio.Future[None]] = set()
        self._is_rung = self._is_listening = False
        self._woken_at = 0.0

    def notify_waiters(self) -> None:
        """Wake all current waiters, now or at the end of the minimum time between two wake-ups."""
        self._is_listening = False
        if not self._waiting or self._is_rung:
            return
        quiet_until = self._woken_at + _QUIET_S
        if self._loop.time() >= quiet_until:
            self._wake_waiters()
        else:
            self._is_rung = True
            self._loop.call_at(quiet_until, self._wake_waiters)

    def next_change(self) -> asyncio.Future[None]:
        """Return a future for the next change; check the state after calling this, and then await it."""
        future = self._loop.create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if not self._is_listening:
            self._is_listening = True
            self._listen()
        return future

    def _wake_waiters(self) -> None:
        self._is_rung = False
        self._woken_at = self._loop.time()
        for future in tuple(self._waiting):
            if not future.done():
                future.set_result(None)


class ForegroundOutput:
    """The output of one foreground command, both streams in one in the order of writing.

    Attributes:
        recording: The recording, passed to the supervisor when the command is started.
        whole: The output up to `WHOLE_BYTES`.
        newest: The last lines of it, for programs.
    """

    def __init__(self) -> None:
        self.recording = Recording((WHOLE_BYTES, WHOLE_BYTES))
        (self.whole,) = self.recording.tracks
        self.newest = Track(self.recording, self.whole.number, (STREAM_LINES, STREAM_BYTES))

    def record_stream(self, fd: int) -> None:
        """Record a descriptor until its end."""
        self.recording.record(fd, self.whole)


class Output:
    """The streams of one process in the background.

    Attributes:
        recording: The recording, passed to the supervisor when the process is started.
        stdout: Its standard output; with a terminal both streams, in the order of writing.
        stderr: Its standard error; empty with a terminal.
        screen: Everything in the order of arrival, including the echo of typed text.
        bell: Wakes waiters when output was added, and when all streams have ended.
    """

    def __init__(self) -> None:
        self.recording = Recording(
            (STREAM_LINES, STREAM_BYTES), (STREAM_LINES, STREAM_BYTES), (SCREEN_LINES, SCREEN_BYTES)
        )
        self.stdout, self.stderr, self.screen = self.recording.tracks
        self._process: SupervisedProcess | None = None
        self.bell = Bell(self._watch_process)

    @property
    def is_complete(self) -> bool:
        """True once no more output can arrive."""
        return self._process is not None and self._process.is_recorded

    def record_stream(self, fd: int, stream: Track | None) -> None:
        """Record a descriptor until its end, in a stream and on the screen; None: only on the screen."""
        self.recording.record(fd, *(() if stream is None else (stream,)), self.screen)

    def attach_process(self, process: SupervisedProcess) -> None:
        """Set the process whose output this is, so that waiters are notified."""
        self._process = process

    def _watch_process(self) -> None:
        if self._process is not None:
            self._process.on_output(self.recording.written, self.bell.notify_waiters)
