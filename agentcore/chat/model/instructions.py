"""What a model is told before the conversation, as providers take it."""

from typing import NamedTuple


class Instructions(NamedTuple):
    """The text of a system message.

    Args:
        lasting: What stays from turn to turn, so that a provider can keep it; empty: nothing.
        passing: What follows it.
    """

    lasting: str
    passing: str
