"""`Output`: what a process writes, kept stream by stream and as it comes on a screen."""

from collections.abc import Callable

from agentcore_shell_tools.bell import Bell
from agentcore_shell_tools.limits import SCREEN_BYTES, SCREEN_LINES, STREAM_BYTES, STREAM_LINES
from agentcore_shell_tools.pump import Pump
from agentcore_shell_tools.ring import Ring


class Output:
    """The streams of one process.

    Attributes:
        stdout: What it wrote to its output; in the foreground both streams, in the order of writing.
        stderr: What it wrote to its errors.
        screen: All of it as it came, with what was typed.
        bell: Rings when something was added, and when a stream has ended.
    """

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._opened = 0  # counted by the event loop
        self._ended = 0  # counted by the pump
        self.stdout = Ring(STREAM_LINES, STREAM_BYTES)
        self.stderr = Ring(STREAM_LINES, STREAM_BYTES)
        self.screen = Ring(SCREEN_LINES, SCREEN_BYTES)
        self.bell = Bell()

    @property
    def is_complete(self) -> bool:
        """Whether nothing more can come."""
        return self._ended == self._opened

    def read(self, fd: int, stream: Ring | None) -> None:
        """Read a descriptor to its end; None: only the screen shows it."""
        self._opened += 1
        self._pump.add(fd, self._onto(stream), self._on_end)

    async def complete(self) -> None:
        """Wait until nothing more can come."""
        while True:
            change = self.bell.next()
            if self.is_complete:
                change.cancel()
                return
            await change

    def _onto(self, stream: Ring | None) -> Callable[[bytes, int], None]:
        def take(block: bytes, lines: int) -> None:
            if stream is not None:
                stream.append(block, lines)
            self.screen.append(block, lines)
            self.bell.ring()

        return take

    def _on_end(self) -> None:
        self._ended += 1
        self.bell.ring()
