"""Select from too many matches, so that every file or every part of the tree is represented."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_FOLDERS = 8
"""Maximum number of folders in a summary."""


def pick_evenly(items: Sequence[T], limit: int) -> list[T]:
    """Return up to `limit` items at even distances, starting with the first."""
    if len(items) <= limit:
        return list(items)
    return [items[index * len(items) // limit] for index in range(limit)]


def fair_share(counts: Iterable[int], limit: int) -> int:
    """Return the maximum per entry so that all together stay within the limit; at least 1.

    Entries with fewer leave the rest of their share to the others.
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
    """Return the folders or files with the most matches: those directly below the common prefix of all paths.

    Args:
        counts: Number of matches of each file, by its path.
    Returns:
        Path parts with their counts, most matches first; empty if all matches are in one file.
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
