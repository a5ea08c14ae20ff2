"""`Recording`: the end of what a command writes, in bounded memory however much it is.

The command's supervisor reads the streams and writes them here; the server only looks, so that a flood of output costs
it nothing.
"""

import mmap
import os
from dataclasses import dataclass
from typing import Any

from agentcore.supervision.memory import shared_memory
from agentcore.supervision.recording import BLOCK_BYTES, INDEX_BYTES, PAGE, Index, compute_offsets

_PIECE_BYTES = 64 * 1024
_SLACK_BLOCKS = 4  # so far a flood may go on while somebody reads


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a stream.

    Args:
        offset: Bytes in front of it.
        lines: Line ends in front of it.
    """

    offset: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a stream.

    Args:
        start: Where it begins, later than asked for when that is not kept any more.
        dropped_lines: Lines between the place that was asked for and `start`.
    """

    data: bytes
    start: Mark
    end: Mark
    dropped_lines: int


class Recording:
    """What a command writes, on tracks; made in front of its start and handed to `Supervisor.start`.

    Args:
        limits: The lines and the bytes that are kept of each track, at least.

    Attributes:
        tracks: One for each of the limits.
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
        """Have a stream recorded.

        Args:
            fd: Where it is read; it stays the caller's, who closes it after the start.
            tracks: Where it comes to, one after the other with what else comes to the same track.
        """
        os.set_blocking(fd, False)
        self._streams.append((fd, [track.number for track in tracks]))

    @property
    def written(self) -> int:
        """Bytes of all streams that have been recorded."""
        return self._newest_page()[0]

    def request(self) -> dict[str, Any]:
        """What the supervisor's program is told of it."""
        return {"tracks": self._sizes, "record": [numbers for _, numbers in self._streams]}

    def open(self) -> list[int]:
        """Make the memory, and open anew what the supervisor's program needs: the memory and each stream.

        Raises:
            OSError: There is no room for it.
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
        """The end of a track."""
        return Mark(*self._newest_page()[1 + 2 * number : 3 + 2 * number])

    def read(self, number: int, start: int, end: int) -> bytes:
        """Bytes of a track, which may be overwritten meanwhile."""
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
        """The first byte of a track that is not overwritten now."""
        if self._shared is None:
            return self._kept[number][0]
        return max(0, self.counts(number).offset + BLOCK_BYTES - self._sizes[number])

    def close(self) -> None:
        """Give the memory back, and keep what the tracks keep; nothing is added any more. Safe to call twice."""
        if self._shared is None:
            return
        excerpts = [track.since() for track in self.tracks]
        self._page = self._newest_page()
        self._kept = [(excerpt.start.offset, excerpt.data) for excerpt in excerpts]
        self._index = self._shared = None

    def _newest_page(self) -> list[int]:
        return self._page if self._index is None else self._index.read_page()


class Track:
    """The longest end of what comes to it that has at most so many lines and so many bytes.

    A line is what ends with a newline, and what comes after the last one. While a flood comes in, less may be found:
    what is overwritten at that moment is left out.
    """

    def __init__(self, recording: Recording, number: int, limits: tuple[int, int]) -> None:
        self._recording = recording
        self._limit_lines, self._limit_bytes = limits
        self.number = number

    @property
    def end(self) -> Mark:
        """The end of what has come so far."""
        return self._recording.counts(self.number)

    def since(self, mark: Mark = Mark()) -> Excerpt:
        """What came after a place, as far as it is kept."""
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
        """The last lines in front of `end` that begin at `start` or later, and how many line ends they have."""
        wanted = self._limit_lines + (self._recording.read(self.number, end - 1, end) == b"\n" if end else 0)
        pieces: list[bytes] = []
        found = 0
        while end > start and found < wanted:
            begin = max(start, end - _PIECE_BYTES)
            piece = self._recording.read(self.number, begin, end)
            lines = piece.count(b"\n")
            if found + lines >= wanted:
                piece = b"\n".join(piece.rsplit(b"\n", wanted - found)[1:])
                lines = wanted - found - 1
                wanted = 0
            pieces.append(piece)
            found += lines
            end = begin
        return b"".join(reversed(pieces)), found
