"""Memory layout of a command's recorded output, shared by its keeper and the server.

The memory starts with an index of 64-bit numbers: the edition, which only grows, and two slots for a page. The page of
the newest edition is in slot `edition % 2`; the keeper writes the other slot and then increments the edition, so that a
reader never blocks: it reads again if the keeper has overtaken it. A page contains the total number of recorded bytes,
and for each track its number of bytes and line ends since the start. The tracks follow the index, each a ring buffer in
which byte N of the stream is at N modulo its size. There is a single writer.
"""

from collections.abc import Sequence

INDEX_BYTES = 4096
"""Size of the index, which precedes the first track."""

BLOCK_BYTES = 1 << 18
"""Maximum number of bytes recorded at once; up to this many of a ring's oldest bytes may be overwritten at any time."""

TRACKS = 8
"""Maximum number of tracks of one recording."""

PAGE = 1 + 2 * TRACKS
"""Number of 64-bit numbers in a page."""


class Index:
    """The index of a recording.

    Args:
        numbers: The shared memory as 64-bit numbers.
    """

    def __init__(self, numbers: memoryview) -> None:
        self._numbers = numbers

    def read_page(self) -> list[int]:
        """Return the newest page: the total of bytes, then bytes and line ends of each track."""
        while True:
            edition = self._numbers[0]
            begin = 1 + edition % 2 * PAGE
            page: list[int] = self._numbers[begin : begin + PAGE].tolist()
            if self._numbers[0] <= edition + 1:
                return page

    def publish_page(self, page: Sequence[int]) -> None:
        """Make a page the newest one."""
        edition = self._numbers[0] + 1
        begin = 1 + edition % 2 * PAGE
        for index, number in enumerate(page, begin):
            self._numbers[index] = number
        self._numbers[0] = edition


def compute_offsets(sizes: Sequence[int]) -> list[int]:
    """Return the start offset of each track, and finally the size of the memory."""
    ends = [INDEX_BYTES]
    for size in sizes:
        ends.append(ends[-1] + size)
    return ends
