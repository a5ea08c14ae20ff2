"""`Output`: the output of a process, recorded per stream and in the order of a screen."""

from agentcore.api import Recording, SupervisedProcess, Track
from agentcore_shell_tools.limits import SCREEN_BYTES, SCREEN_LINES, STREAM_BYTES, STREAM_LINES, WHOLE_BYTES
from agentcore_shell_tools.output_signal import Bell


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
