"""Suggestions for misspelled names."""

from collections.abc import Collection, Iterable

NAME_CHARS = 200
"""Longer text is not a misspelled name: comparing costs its length times the number of known names."""

_MOST = 3


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name with the most similar spelling, or None."""
    return next(iter(_find_similar(name, known, 1)), None)


def _find_similar(name: str, known: Iterable[str], most: int) -> list[str]:
    if len(name) > NAME_CHARS:
        return []
    short = [each for each in known if len(each) <= NAME_CHARS]
    import difflib  # noqa: PLC0415 - few processes need it

    return difflib.get_close_matches(name, short, n=most)  # noqa: TID251 - bounded here


def near_names(name: str, known: Collection[str]) -> list[str]:
    """Return known names that were possibly meant, nearest first: similar spelling, or with this name as a part.

    Args:
        name: The name as written.
        known: The existing names.
    """
    if len(name) > NAME_CHARS:
        return []
    lowered = name.lower().replace("-", "_")
    alike = _find_similar(lowered, known, _MOST)
    # `click` is spelled very differently from `browser_click`, but probably means it
    holding = [each for each in known if lowered and lowered in each.split("_")]
    return list(dict.fromkeys([*alike, *holding]))[:_MOST]


def unknown_name(kind: str, name: str, near: list[str]) -> str:
    """Return the message about an unknown name: `there is no tool 'reed'; did you mean 'read'?`."""
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"there is no {kind} {shorten_name(name)!r}{meant}"


def shorten_name(name: str) -> str:
    """Return a name for errors, truncated if it is too long."""
    return name if len(name) <= NAME_CHARS else f"{name[:NAME_CHARS]}…"
