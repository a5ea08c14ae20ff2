"""`Output`: what a process writes, kept stream by stream and as it comes on a screen."""

from agentcore.api import Recording, SupervisedProcess, Track
from agentcore_shell_tools.limits import SCREEN_BYTES, SCREEN_LINES, STREAM_BYTES, STREAM_LINES, WHOLE_BYTES
from agentcore_shell_tools.output_signal import Bell


class ForegroundOutput:
    """Both streams of one command in one, in the order of writing.

    Attributes:
        recording: Where they are kept; goes to the supervisor when the command is started.
        whole: All that it wrote.
        newest: The lines of it that a program gets.
    """

    def __init__(self) -> None:
        self.recording = Recording((WHOLE_BYTES, WHOLE_BYTES))
        (self.whole,) = self.recording.tracks
        self.newest = Track(self.recording, self.whole.number, (STREAM_LINES, STREAM_BYTES))

    def record_stream(self, fd: int) -> None:
        """Read a descriptor to its end."""
        self.recording.record(fd, self.whole)


class Output:
    """The streams of one process in the background.

    Attributes:
        recording: Where they are kept; goes to the supervisor when the process is started.
        stdout: What it wrote to its output; with a terminal both streams, in the order of writing.
        stderr: What it wrote to its errors.
        screen: All of it as it came, with what was typed.
        bell: Rings when something was added, and when all streams have ended.
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
        """Whether nothing more can come."""
        return self._process is not None and self._process.is_recorded

    def record_stream(self, fd: int, stream: Track | None) -> None:
        """Read a descriptor to its end; None: only the screen shows it."""
        self.recording.record(fd, *(() if stream is None else (stream,)), self.screen)

    def attach_process(self, process: SupervisedProcess) -> None:
        """Hear from the process whose output it is."""
        self._process = process

    def _watch_process(self) -> None:
        if self._process is not None:
            self._process.on_output(self.recording.written, self.bell.notify_waiters)
