"""`Pump`: one thread that reads the output of all processes, so that no flood of it holds the event loop."""

import os
import selectors
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fcntl import fcntl

_READ_BYTES = 1 << 18  # what fits into a processor's cache is looked at again for little
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # linux/fcntl.h
_FULL_PIPE_BYTES = 64 * 1024
_LONG_LINE_BYTES = 40


@dataclass(slots=True)
class _Tap:
    fd: int
    on_block: Callable[[bytes, int], None]
    on_end: Callable[[], None]
    has_grown: bool = False
    line_bytes: float = 0


class Pump:
    """Reads descriptors until their end; what it calls runs in its thread and must not wait."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._woken, self._waking = os.pipe()
        os.set_blocking(self._woken, False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._new: deque[_Tap] = deque()
        self._buffer = bytearray(_READ_BYTES)  # one for all: a new one for each block costs more than the copy
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="shell_tools-pump", daemon=True)
        self._thread.start()

    def add(self, fd: int, on_block: Callable[[bytes, int], None], on_end: Callable[[], None]) -> None:
        """Read a descriptor to its end, and close it.

        Args:
            fd: Of a pipe or a terminal; it belongs to the pump from now on.
            on_block: Gets each block as it comes, and the number of its line ends.
            on_end: Called once, after the last block.
        """
        os.set_blocking(fd, False)
        self._new.append(_Tap(fd, on_block, on_end))
        os.write(self._waking, b"\0")

    def close(self) -> None:
        """Stop reading, close everything, and wait for the thread; safe to call twice."""
        if self._is_closing:
            return
        self._is_closing = True
        os.write(self._waking, b"\0")
        self._thread.join()
        os.close(self._waking)

    def _run(self) -> None:
        while not self._is_closing:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._take_new()
                else:
                    self._read(key.data)
        self._take_new()
        for key in tuple(self._selector.get_map().values()):
            if key.data is not None:
                self._end(key.data)
        self._selector.close()
        os.close(self._woken)

    def _take_new(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, 65536)
        while self._new:
            tap = self._new.popleft()
            self._selector.register(tap.fd, selectors.EVENT_READ, tap)

    def _read(self, tap: _Tap) -> None:
        try:
            size = os.readv(tap.fd, [self._buffer])
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the other end of the terminal any more
            size = 0
        if not size:
            self._end(tap)
            return
        block = bytes(memoryview(self._buffer)[:size])
        if size >= _FULL_PIPE_BYTES and not tap.has_grown:
            _grow(tap)
        lines = _count_lines(block, tap.line_bytes)
        tap.line_bytes = size / (lines + 1)
        tap.on_block(block, lines)

    def _end(self, tap: _Tap) -> None:
        self._selector.unregister(tap.fd)
        os.close(tap.fd)
        tap.on_end()


def _grow(tap: _Tap) -> None:
    """Give a pipe that was full more room; only then, because a user's pipes have a common bound (pipe(7))."""
    tap.has_grown = True
    with suppress(OSError):
        fcntl(tap.fd, _F_SETPIPE_SZ, _PIPE_BYTES)


def _count_lines(block: bytes, line_bytes: float) -> int:
    """The line ends of a block; with long lines it is quicker to take them out than to count them one by one."""
    if line_bytes < _LONG_LINE_BYTES:
        return block.count(b"\n")
    return len(block) - len(block.replace(b"\n", b""))
