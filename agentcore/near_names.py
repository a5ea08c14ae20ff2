"""Which known name was probably meant by one that nobody knows."""

from collections.abc import Collection, Iterable

NAME_CHARS = 200
"""A longer text is no misspelled name: comparing costs its length times the number of known names."""

_MOST = 3


def closest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled most alike; None: there is none."""
    return next(iter(_find_similar(name, known, 1)), None)


def _find_similar(name: str, known: Iterable[str], most: int) -> list[str]:
    if len(name) > NAME_CHARS:
        return []
    short = [each for each in known if len(each) <= NAME_CHARS]
    import difflib  # noqa: PLC0415 - few processes need it

    return difflib.get_close_matches(name, short, n=most)  # noqa: TID251 - bounded here


def near_names(name: str, known: Collection[str]) -> list[str]:
    """Known names that somebody may have meant, the nearest first: spelled alike, or with this name as a part.

    Args:
        name: As it was written.
        known: The names there are.
    """
    if len(name) > NAME_CHARS:
        return []
    lowered = name.lower().replace("-", "_")
    alike = _find_similar(lowered, known, _MOST)
    # `click` is far from `browser_click` by its letters, and still is what was meant
    holding = [each for each in known if lowered and lowered in each.split("_")]
    return list(dict.fromkeys([*alike, *holding]))[:_MOST]


def unknown_name(kind: str, name: str, near: list[str]) -> str:
    """The sentence about a name that nobody knows: `there is no tool 'reed'; did you mean 'read'?`."""
    meant = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return f"there is no {kind} {shorten_name(name)!r}{meant}"


def shorten_name(name: str) -> str:
    """A name as errors show it: cut where it is too long for one."""
    return name if len(name) <= NAME_CHARS else f"{name[:NAME_CHARS]}…"
