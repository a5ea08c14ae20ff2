"""Messages one a line, out of bytes as they come: bounded, however long a line is."""

from collections.abc import Iterator
from dataclasses import dataclass

MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest message that is taken over a pipe."""

_END_BYTES = 256


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was too long to be kept.

    Args:
        ends: How it began and how it ended: whoever sent it finds its id there.
    """

    ends: tuple[bytes, bytes]


class Lines:
    """Puts lines together; of one that is too long, its ends alone are kept."""

    def __init__(self, limit_bytes: int = MESSAGE_BYTES) -> None:
        self._limit = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._head = self._tail = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in these bytes, without their ends."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._append_part(end)
            line = self._finish_line()
            if isinstance(line, TooLong) or line.strip():
                yield line
        self._append_part(rest)

    def _append_part(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
            return
        if self._parts:
            self._head = b"".join(self._parts)[:_END_BYTES]
            self._parts = []
        self._tail = (self._tail + part)[-_END_BYTES:]

    def _finish_line(self) -> bytes | TooLong:
        is_kept = self._size <= self._limit
        head = self._head
        tail = self._tail
        line = b"".join(self._parts)
        self._parts = []
        self._size = 0
        self._head = b""
        self._tail = b""
        return line if is_kept else TooLong((head, tail))
