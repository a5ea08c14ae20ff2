"""`Recorder`: reads a command's output in the keeper and writes it to memory shared with the server."""

import contextlib
import mmap
import os
import select
from collections.abc import Sequence
from fcntl import fcntl
from typing import Any

import stringzilla

from agentcore.supervision.recording import BLOCK_BYTES, INDEX_BYTES, PAGE, Index, compute_offsets

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # linux/fcntl.h
_FULL_PIPE_BYTES = 64 * 1024
_LONG_LINE_BYTES = 24


class Recorder:
    """Records streams until their end.

    Args:
        memory: Descriptor of the shared memory, which the constructor closes.
        sizes: Size of each track in bytes.
        streams: Descriptors to read from; each is closed when its stream ends.
        tracks: The tracks of each stream.
        poll: The streams are registered with it.
    """

    def __init__(
        self,
        memory: int,
        sizes: Sequence[int],
        streams: Sequence[int],
        tracks: Sequence[Sequence[int]],
        poll: select.poll,
    ) -> None:
        begins = compute_offsets(sizes)
        self._memory = memoryview(mmap.mmap(memory, begins[-1]))
        os.close(memory)
        self._index = Index(self._memory[:INDEX_BYTES].cast("Q"))
        self._page = [0] * PAGE
        self._tracks = list(zip(begins, sizes, strict=False))
        self._streams = {fd: _Stream(numbers) for fd, numbers in zip(streams, tracks, strict=True)}
        self._poll = poll
        for fd in streams:
            poll.register(fd, select.POLLIN)

    @property
    def is_complete(self) -> bool:
        """True when all streams have ended."""
        return not self._streams

    @property
    def written(self) -> int:
        """The total number of recorded bytes."""
        return self._page[0]

    def record_available(self, fd: int) -> None:
        """Record the data that is available from a stream."""
        stream = self._streams[fd]
        first, *others = stream.tracks
        begin = self._page[1 + 2 * first]
        try:
            size = os.readv(fd, self._track_slices(first, begin, BLOCK_BYTES))
        except BlockingIOError:
            return
        except OSError:  # EIO: the other end of the terminal was closed
            size = 0
        if not size:
            del self._streams[fd]
            self._poll.unregister(fd)
            os.close(fd)
            return
        if size >= _FULL_PIPE_BYTES and not stream.has_grown:
            stream.grow_pipe(fd)
        parts = self._track_slices(first, begin, size)
        lines = stream.count_lines(parts, size)
        for track in others:
            self._copy_to_track(parts, track)
        for track in stream.tracks:
            self._page[1 + 2 * track] += size
            self._page[2 + 2 * track] += lines
        self._page[0] += size
        self._index.publish_page(self._page)

    def _track_slices(self, track: int, begin: int, size: int) -> list[memoryview]:
        """Return the part of the ring that holds these bytes of the stream; two slices if it wraps around."""
        base, length = self._tracks[track]
        start = begin % length
        until_end = min(size, length - start)
        parts = [self._memory[base + start : base + start + until_end]]
        if until_end < size:
            parts.append(self._memory[base : base + size - until_end])
        return parts

    def _copy_to_track(self, parts: Sequence[memoryview], track: int) -> None:
        position = self._page[1 + 2 * track]
        for part in parts:
            done = 0
            for room in self._track_slices(track, position, len(part)):
                room[:] = part[done : done + len(room)]
                done += len(room)
            position += len(part)


class _Stream:
    def __init__(self, tracks: Sequence[int]) -> None:
        self.tracks = tracks
        self.has_grown = False
        self._line_bytes = 0.0

    def grow_pipe(self, fd: int) -> None:
        """Enlarge a pipe that was full; only then, because all pipes of a user share a limit (pipe(7))."""
        self.has_grown = True
        with contextlib.suppress(OSError):
            fcntl(fd, _F_SETPIPE_SZ, _PIPE_BYTES)

    def count_lines(self, parts: Sequence[memoryview], size: int) -> int:
        """Count line ends; for short lines `bytes.count` is faster than searching for the next newline."""
        if self._line_bytes < _LONG_LINE_BYTES:
            lines = sum(bytes(part).count(b"\n") for part in parts)
        else:
            lines = sum(stringzilla.count(part, "\n") for part in parts)
        self._line_bytes = size / (lines + 1)
        return lines


def create_recorder(request: dict[str, Any], fds: Sequence[int], poll: select.poll) -> Recorder | None:
    """Create the recorder for a request; None if nothing is recorded."""
    if not fds:
        return None
    memory, *streams = fds
    return Recorder(memory, request["tracks"], streams, request["record"], poll)
