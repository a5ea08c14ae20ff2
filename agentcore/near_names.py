"""Which known name was probably meant by one that nobody knows."""

import difflib
from collections.abc import Collection

_MOST = 3


def near_names(name: str, known: Collection[str]) -> list[str]:
    """Known names that somebody may have meant, the nearest first: spelled alike, or with this name as a part.

    Args:
        name: As it was written.
        known: The names there are.
    """
    lowered = name.lower().replace("-", "_")
    alike = difflib.get_close_matches(lowered, known, n=_MOST)
    # `click` is far from `browser_click` by its letters, and still is what was meant
    holding = [each for each in known if lowered and lowered in each.split("_")]
    return list(dict.fromkeys([*alike, *holding]))[:_MOST]


def unknown_name(kind: str, name: str, near: list[str]) -> str:
    """The sentence about a name that nobody knows: `there is no tool 'reed'; did you mean 'read'?`."""
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"there is no {kind} {name!r}{meant}"
