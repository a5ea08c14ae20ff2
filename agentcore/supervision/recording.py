"""How the recorded output of a command lies in the memory that its keeper and the server share.

In front is an index of 64-bit numbers: the edition, which only grows, and two places for a page. The page of the newest
edition stands in the place `edition % 2`; the keeper writes the other one and then counts on, so that a reader never
waits: it reads again if the keeper has overtaken it. A page holds the bytes that were recorded in all, and for each
track its bytes and its line ends since the beginning. Behind the index lie the tracks, each a ring in which byte N of
the stream lies at N modulo its size. One process writes.
"""

from collections.abc import Sequence

INDEX_BYTES = 4096
"""In front of the first track."""

BLOCK_BYTES = 1 << 18
"""The most that is read at one time: so far behind the end, a reader may find what is being overwritten."""

TRACKS = 8
"""Tracks of one recording, at most."""

PAGE = 1 + 2 * TRACKS
"""Numbers of a page."""


class Index:
    """The index of a recording.

    Args:
        numbers: The shared memory as 64-bit numbers.
    """

    def __init__(self, numbers: memoryview) -> None:
        self._numbers = numbers

    def read_page(self) -> list[int]:
        """The newest page: all bytes, and bytes and line ends of each track."""
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
    """Where tracks of these sizes begin, and where the memory ends."""
    ends = [INDEX_BYTES]
    for size in sizes:
        ends.append(ends[-1] + size)
    return ends
