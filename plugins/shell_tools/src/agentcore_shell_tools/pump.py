"""`Pump`: one thread that reads the output of all processes, so that no flood of it holds the event loop."""

import os
import selectors
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from fcntl import fcntl
from typing import NamedTuple

_READ_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # linux/fcntl.h
_FULL_PIPE_BYTES = 64 * 1024


class _Tap(NamedTuple):
    fd: int
    on_block: Callable[[bytes, int], None]
    on_end: Callable[[], None]


class Pump:
    """Reads descriptors until their end; what it calls runs in its thread and must not wait."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._woken, self._waking = os.pipe()
        os.set_blocking(self._woken, False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._new: deque[_Tap] = deque()
        self._grown: set[int] = set()
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
            block = os.read(tap.fd, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the other end of the terminal any more
            block = b""
        if not block:
            self._end(tap)
            return
        if len(block) >= _FULL_PIPE_BYTES and tap.fd not in self._grown:
            self._grow(tap.fd)
        tap.on_block(block, block.count(b"\n"))

    def _grow(self, fd: int) -> None:
        """Give a pipe that was full more room; only then, because a user's pipes have a common bound (pipe(7))."""
        self._grown.add(fd)
        with suppress(OSError):
            fcntl(fd, _F_SETPIPE_SZ, _PIPE_BYTES)

    def _end(self, tap: _Tap) -> None:
        self._selector.unregister(tap.fd)
        self._grown.discard(tap.fd)
        os.close(tap.fd)
        tap.on_end()
