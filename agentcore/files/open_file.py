"""`OpenFile`: a regular file, open for reading."""

import errno
import os
import stat
from collections.abc import Iterator
from typing import Self

_BLOCK_BYTES = 1 << 20


class OpenFile:
    """A regular file, open for reading, whose size is known before anything is read.

    Attributes:
        fd: The descriptor.
        stat: The status when it was opened.
    """

    __slots__ = ("fd", "stat")

    def __init__(self, fd: int, status: os.stat_result) -> None:
        self.fd = fd
        self.stat = status

    @property
    def size_bytes(self) -> int:
        """Return the size when the file was opened."""
        return self.stat.st_size

    def read(self, limit_bytes: int, offset: int = 0) -> bytes:
        """Read up to `limit_bytes` from an offset; fewer only at the end of the file."""
        expected = min(limit_bytes, max(self.stat.st_size - offset, 0) + 1)
        first = os.pread(self.fd, expected, offset)
        if len(first) < expected or expected == limit_bytes:
            return first
        parts = [first]
        done = len(first)
        while done < limit_bytes and (part := os.pread(self.fd, min(_BLOCK_BYTES, limit_bytes - done), offset + done)):
            parts.append(part)
            done += len(part)
        return b"".join(parts) if len(parts) > 1 else first

    def blocks(self, offset: int = 0, block_bytes: int = _BLOCK_BYTES) -> Iterator[bytes]:
        """Yield the content from an offset to the end in blocks."""
        while block := os.pread(self.fd, block_bytes, offset):
            yield block
            offset += len(block)

    def close(self) -> None:
        """Close the descriptor; safe to call twice."""
        fd = self.fd
        self.fd = -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def regular_file(fd: int) -> OpenFile:
    """Take ownership of the descriptor of a regular file; any other descriptor is closed and refused.

    Raises:
        OSError: EISDIR: a folder; ENXIO: a FIFO, a device or a socket.
    """
    status = os.fstat(fd)
    if stat.S_ISREG(status.st_mode):
        return OpenFile(fd, status)
    os.close(fd)
    code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO
    raise OSError(code, os.strerror(code))
