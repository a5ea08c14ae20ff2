"""Splits incoming bytes into messages, one per line, with limited memory however long a line is."""

from collections.abc import Iterator

from agentcore.late_dataclasses import dataclass

MESSAGE_BYTES = 16 * 1024 * 1024
"""Maximum size of a message over a pipe."""

_END_BYTES = 256


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was too long to be stored.

    Args:
        ends: Its first and its last bytes, in which the id of a request can be found.
    """

    ends: tuple[bytes, bytes]


class Lines:
    """Assembles lines; of a line that is too long, only the ends are stored."""

    def __init__(self, limit_bytes: int = MESSAGE_BYTES) -> None:
        self._limit = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._head = self._tail = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Yield the lines that end in these bytes, without their line ends."""
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
