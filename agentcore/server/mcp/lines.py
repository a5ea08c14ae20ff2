"""Messages one a line, out of bytes as they come: bounded, however long a line is."""

from collections.abc import Iterator

MESSAGE_BYTES = 16 * 1024 * 1024
"""The longest message that is taken over a pipe."""


class Lines:
    """Puts lines together; of one that is too long, nothing is kept."""

    def __init__(self, limit_bytes: int = MESSAGE_BYTES) -> None:
        self._limit = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that end in these bytes, without their ends; None: one that was too long."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._keep(end)
            line = b"".join(self._parts) if self._size <= self._limit else None
            self._parts, self._size = [], 0
            if line is None or line.strip():
                yield line
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts = []
