"""The name of a call's tool, put together from chunks."""

from collections.abc import Sequence
from typing import NamedTuple


class CallName(NamedTuple):
    """The name so far, with every other name that the chunks may add up to.

    A chunk continues the name, or repeats it from its beginning, alone or with more. `pa` and `paya` are both: only the
    names of the offered tools show whether this is `papaya` or `paya`.

    Args:
        text: The name, if each chunk that can be a repetition is one.
        readings: The names that the chunks may add up to, if an offered tool's name begins with them.
    """

    text: str = ""
    readings: frozenset[str] = frozenset(("",))

    def add(self, chunk: str, offered: Sequence[str]) -> "CallName":
        """Return the name with a further chunk.

        Args:
            offered: The names of all offered tools.
        """
        text = chunk if chunk.startswith(self.text) else self.text + chunk
        repeated = {chunk for reading in self.readings if chunk.startswith(reading)}
        readings = {reading + chunk for reading in self.readings} | repeated
        beginnings = (each for each in readings if any(name.startswith(each) for name in offered))
        return CallName(text, frozenset(beginnings))

    def choose(self, offered: Sequence[str]) -> str:
        """Return the name, preferably that of an offered tool."""
        if self.text in offered:
            return self.text
        return min(self.readings.intersection(offered), default=self.text)
