"""Choosing from too many matches, so that something of each file, or of each part of a tree, is among them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_FOLDERS = 8
"""Folders that a summary names."""


def pick_evenly(items: Sequence[T], limit: int) -> list[T]:
    """As many of the items as the limit allows, from the first on at even distances."""
    if len(items) <= limit:
        return list(items)
    return [items[index * len(items) // limit] for index in range(limit)]


def fair_share(counts: Iterable[int], limit: int) -> int:
    """The most that each may give, so that all together give no more than the limit; at least 1.

    Who has less leaves the rest to the others.
    """
    share = 1
    left = limit
    ascending = sorted(counts)
    for index, count in enumerate(ascending):
        share = max(left // (len(ascending) - index), 1)
        if count > share:
            return share
        left -= count
    return max(share, ascending[-1] if ascending else 1)


def count_by_folder(counts: Mapping[bytes, int]) -> list[tuple[tuple[bytes, ...], int]]:
    """The folders, or files, that most matches are in: those just below what all paths have in common.

    Args:
        counts: How many matches a file has, by its path.
    Returns:
        Paths in parts, the one with most matches first; none where all are in one file.
    """
    ways = {tuple(path.split(b"/")): count for path, count in counts.items()}
    if len(ways) < 2:  # noqa: PLR2004
        return []
    first = min(ways)
    last = max(ways)
    common = next(depth for depth, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    found: dict[tuple[bytes, ...], int] = {}
    for way, count in ways.items():
        above = way[: common + 1]
        found[above] = found.get(above, 0) + count
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_FOLDERS]
