"""The text of a system message, as sent to providers."""

from typing import NamedTuple


class Instructions(NamedTuple):
    """The text of a system message.

    Args:
        lasting: The part that stays the same from turn to turn, so that a provider can cache it; empty: nothing.
        passing: The part that follows it, and may change.
    """

    lasting: str
    passing: str
