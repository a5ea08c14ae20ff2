"""What a module keeps to itself: secrets, and whatever it wants to find again elsewhere."""

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


class Storage(Protocol):
    """Bytes that a module finds again under their names: after a restart, and wherever else it runs for its server.

    They are in files of the machine where the module runs that the user alone can read. On the hosts of a pool they are
    in an object store of the pool: another of its hosts finds what one has stored for the same server, and whoever may
    read that object store can read them, for they are not encrypted. Other servers and other modules do not see them.
    """

    async def get(self, name: str) -> bytes | None:
        """What was stored last; None: nothing.

        Args:
            name: Any text.
        Raises:
            ToolError: `storage_failed`.
        """
        ...

    async def put(self, name: str, data: bytes) -> None:
        """Store this in place of what was stored: all of it, or none.

        Raises:
            ToolError: `storage_too_large`: it has more than 16 MiB; `storage_failed`: it could not be stored, and what
                was there before may still be.
        """
        ...

    async def delete(self, name: str) -> None:
        """Store nothing any more; there need not be anything.

        Raises:
            ToolError: `storage_failed`.
        """
        ...
