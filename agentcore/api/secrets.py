"""What a module keeps to itself."""

from collections.abc import Mapping
from typing import Protocol


class Secrets(Protocol):
    """Secrets that a module came by itself, such as the tokens of a log-in; no tool and no other module sees them.

    Kept over restarts, in a file that the user alone can read. Their values are masked in errors and in the log.
    """

    async def read(self) -> dict[str, str]:
        """All of them, by name; empty where nothing is kept, or what is kept is damaged."""
        ...

    async def write(self, values: Mapping[str, str]) -> None:
        """Keep these in place of all that were kept; nothing given: nothing is kept.

        Raises:
            ValueError: They are larger than 256 KiB together.
            OSError: They cannot be written; what was kept before still is.
        """
        ...
