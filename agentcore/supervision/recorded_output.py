"""`Recording`: stores the end of a command's output in a fixed amount of shared memory.

The command's keeper reads the streams and writes them to the memory; the server only reads excerpts on demand, so that
a flood of output costs it nothing.
"""

import mmap
import os
from typing import Any

from agentcore.late_dataclasses import dataclass
from agentcore.supervision.memory import shared_memory
from agentcore.supervision.recording import BLOCK_BYTES, INDEX_BYTES, PAGE, Index, compute_offsets

_PIECE_BYTES = 64 * 1024
_SLACK_BLOCKS = 4  # how much may be written during a read without overwriting the excerpt


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a stream.

    Args:
        offset: Number of bytes before it.
        lines: Number of line ends before it.
    """

    offset: int = 0
    lines: int = 0


BEGINNING = Mark()
"""The position before a stream's first byte."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a stream.

    Args:
        start: Where it starts; later than requested if that part is no longer stored.
        dropped_lines: Lines between the requested position and `start`.
    """

    data: bytes
    start: Mark
    end: Mark
    dropped_lines: int


class Recording:
    """Records a command's output on tracks; created before the command and passed to `Supervisor.start`.

    Args:
        limits: For each track, the maximum number of lines and of bytes in an excerpt.

    Attributes:
        tracks: One track for each of the limits.
    """

    def __init__(self, *limits: tuple[int, int]) -> None:
        self._sizes = [limit_bytes + _SLACK_BLOCKS * BLOCK_BYTES for _, limit_bytes in limits]
        self._begins = compute_offsets(self._sizes)
        self._streams: list[tuple[int, list[int]]] = []
        self._shared: mmap.mmap | None = None
        self._index: Index | None = None
        self._page = [0] * PAGE
        self._kept: list[tuple[int, bytes]] = [(0, b"")] * len(limits)
        self.tracks = tuple(Track(self, number, limit) for number, limit in enumerate(limits))

    def record(self, fd: int, *tracks: "Track") -> None:
        """Add a stream to the recording.

        Args:
            fd: The descriptor to read from; the caller still owns it and closes it after the start.
            tracks: The tracks that receive it, interleaved with other streams of the same track.
        """
        os.set_blocking(fd, False)
        self._streams.append((fd, [track.number for track in tracks]))

    @property
    def written(self) -> int:
        """The number of bytes recorded from all streams."""
        return self._newest_page()[0]

    def request(self) -> dict[str, Any]:
        """Return the part of the spawner's request that describes the recording."""
        return {"tracks": self._sizes, "record": [numbers for _, numbers in self._streams]}

    def open(self) -> list[int]:
        """Create the memory, and return descriptors for the keeper: the memory and a duplicate of each stream.

        Raises:
            OSError: If there is no room for it.
        """
        fds = [shared_memory(self._begins[-1], "agentcore-output")]
        try:
            self._shared = mmap.mmap(fds[0], self._begins[-1], prot=mmap.PROT_READ)
            self._index = Index(memoryview(self._shared)[:INDEX_BYTES].cast("Q"))
            fds += [os.dup(fd) for fd, _ in self._streams]
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise
        return fds

    def counts(self, number: int) -> Mark:
        """Return the end position of a track."""
        return Mark(*self._newest_page()[1 + 2 * number : 3 + 2 * number])

    def read(self, number: int, start: int, end: int) -> bytes:
        """Return bytes of a track; they may be overwritten during the read (see `oldest`)."""
        shared = self._shared
        base = self._begins[number]
        size = self._sizes[number]
        if shared is None:
            begin, kept = self._kept[number]
            return kept[max(0, start - begin) : max(0, end - begin)]
        if start >= end:
            return b""
        first = start % size
        last = end % size
        if first < last:
            return shared[base + first : base + last]
        return shared[base + first : base + size] + shared[base : base + last]

    def oldest(self, number: int) -> int:
        """Return the offset of the first byte of a track that cannot be overwritten at this moment."""
        if self._shared is None:
            return self._kept[number][0]
        return max(0, self.counts(number).offset + BLOCK_BYTES - self._sizes[number])

    def close(self) -> None:
        """Copy the current excerpts and release the shared memory; nothing is added afterwards. Safe to call twice."""
        if self._shared is None:
            return
        excerpts = [track.since() for track in self.tracks]
        self._page = self._newest_page()
        self._kept = [(excerpt.start.offset, excerpt.data) for excerpt in excerpts]
        self._index = self._shared = None

    def _newest_page(self) -> list[int]:
        return self._page if self._index is None else self._index.read_page()


class Track:
    """The end of one or more recorded streams, limited in lines and bytes.

    A line ends with a newline; text after the last newline counts as a line. During a flood of output an excerpt may be
    shorter: bytes that are being overwritten at that moment are left out.
    """

    def __init__(self, recording: Recording, number: int, limits: tuple[int, int]) -> None:
        self._recording = recording
        self._limit_lines, self._limit_bytes = limits
        self.number = number

    @property
    def end(self) -> Mark:
        """The current end of the track."""
        return self._recording.counts(self.number)

    def since(self, mark: Mark = BEGINNING) -> Excerpt:
        """Return the output after a position, as far as it is still stored."""
        end = self.end
        data, lines = self._read_last_lines(max(mark.offset, end.offset - self._limit_bytes), end.offset)
        start = end.offset - len(data)
        if overwritten := max(0, min(self._recording.oldest(self.number), end.offset) - start):
            lines -= data.count(b"\n", 0, overwritten)
            data = data[overwritten:]
            start = start + overwritten
        first = Mark(start, end.lines - lines)
        return Excerpt(data, first, end, first.lines - mark.lines)

    def _read_last_lines(self, start: int, end: int) -> tuple[bytes, int]:
        """Return the last lines before `end` that begin at or after `start`, and their number of line ends."""
        requested = self._limit_lines + (self._recording.read(self.number, end - 1, end) == b"\n" if end else 0)
        chunks: list[bytes] = []
        found = 0
        while end > start and found < requested:
            begin = max(start, end - _PIECE_BYTES)
            chunk = self._recording.read(self.number, begin, end)
            lines = chunk.count(b"\n")
            if found + lines >= requested:
                chunk = b"\n".join(chunk.rsplit(b"\n", requested - found)[1:])
                lines = requested - found - 1
                requested = 0
            chunks.append(chunk)
            found += lines
            end = begin
        return b"".join(reversed(chunks)), found
