"""`Ring`: the end of a stream, in bounded memory however much is written."""

import threading
from collections import deque
from dataclasses import dataclass

_PIECE_BYTES = 64 * 1024


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
        data: Its bytes.
        start: Where it begins, later than asked for when that is not kept any more.
        end: Where it ends.
        dropped_lines: Lines between the place that was asked for and `start`.
    """

    data: bytes
    start: Mark
    end: Mark
    dropped_lines: int


class Ring:
    """Keeps the longest end of a stream that has at most so many lines and so many bytes; safe between threads.

    A line is what ends with a newline, and what comes after the last one.
    """

    def __init__(self, limit_lines: int, limit_bytes: int) -> None:
        self._limit_lines, self._limit_bytes = limit_lines, limit_bytes
        self._lock = threading.Lock()
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._tail = bytearray()  # small writes come together here: a piece for each would cost more than its bytes
        self._tail_lines = 0
        self._kept_bytes = self._kept_lines = 0
        self._end = Mark()

    @property
    def end(self) -> Mark:
        """The end of the stream so far."""
        return self._end

    def append(self, block: bytes, lines: int | None = None) -> None:
        """Add what was written next; `lines`: its line ends, where they have been counted already."""
        if lines is None:
            lines = block.count(b"\n")
        with self._lock:
            if len(block) < _PIECE_BYTES:
                self._tail += block
                self._tail_lines += lines
                if len(self._tail) >= _PIECE_BYTES:
                    self._freeze_tail()
            else:
                self._freeze_tail()
                self._pieces.append((block, lines))
            self._kept_bytes += len(block)
            self._kept_lines += lines
            self._end = Mark(self._end.offset + len(block), self._end.lines + lines)
            self._forget()

    def since(self, mark: Mark = Mark()) -> Excerpt:
        """What was written after a place, as far as it is kept."""
        with self._lock:
            start = max(self._start(), mark, key=lambda place: place.offset)
            data = self._bytes_from(start.offset)
            return Excerpt(data, start, self._end, start.lines - mark.lines)

    def _freeze_tail(self) -> None:
        if self._tail:
            self._pieces.append((bytes(self._tail), self._tail_lines))
            self._tail.clear()
            self._tail_lines = 0

    def _forget(self) -> None:
        """Drop the pieces of which nothing will ever be asked again."""
        while self._pieces:
            piece, lines = self._pieces[0]
            too_many = self._kept_lines - lines > self._limit_lines
            if not too_many and self._kept_bytes - len(piece) < self._limit_bytes:
                return
            self._pieces.popleft()
            self._kept_bytes -= len(piece)
            self._kept_lines -= lines

    def _start(self) -> Mark:
        """Where the kept end begins."""
        first = self._end.offset - self._kept_bytes
        by_bytes = max(first, self._end.offset - self._limit_bytes)
        offset = max(by_bytes, self._start_by_lines(first))
        skipped = self._bytes_from(first, offset).count(b"\n")
        return Mark(offset, self._end.lines - self._kept_lines + skipped)

    def _start_by_lines(self, first: int) -> int:
        """The place after the line end that is one too many, counted from the end."""
        last = bytes(self._tail[-1:]) or (self._pieces[-1][0][-1:] if self._pieces else b"")
        to_find = self._limit_lines + (1 if last == b"\n" else 0)
        end = self._end.offset
        for piece, lines in (*self._tails(), *reversed(self._pieces)):
            if lines < to_find:
                to_find -= lines
                end -= len(piece)
                continue
            place = len(piece)
            for _ in range(to_find):
                place = piece.rfind(b"\n", 0, place)
            return end - len(piece) + place + 1
        return first

    def _tails(self) -> list[tuple[bytes, int]]:
        return [(bytes(self._tail), self._tail_lines)] if self._tail else []

    def _bytes_from(self, offset: int, until: int | None = None) -> bytes:
        found = []
        place = self._end.offset - self._kept_bytes
        for piece, _ in (*self._pieces, *self._tails()):
            if place + len(piece) > offset and (until is None or place < until):
                found.append(piece[max(0, offset - place) : None if until is None else until - place])
            place += len(piece)
        return b"".join(found)
