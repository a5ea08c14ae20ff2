"""Persistent data of a module: secrets, and bytes that other hosts can read too."""

from collections.abc import Mapping
from typing import Protocol


class Secrets(Protocol):
    """Secrets that a module came by itself, such as the tokens of a log-in; no tool and no other module sees them.

    Kept over restarts, in a file that the user alone can read. Their values are masked in errors and in the log.
    """

    async def read(self) -> dict[str, str]:
        """Return all of them, by name; empty if nothing is stored, or the file is damaged."""
        ...

    async def write(self, values: Mapping[str, str]) -> None:
        """Replace all stored secrets by these; an empty mapping deletes them.

        Raises:
            ValueError: They are larger than 256 KiB together.
            OSError: They cannot be written; the previous ones are still stored.
        """
        ...


class Storage(Protocol):
    """Bytes that a module stores under names: persistent, and available wherever else it runs for its server.

    They are in files of the machine where the module runs that only the user can read. On the hosts of a pool they are
    in an object store of the pool: its other hosts can read what one has stored for the same server, and so can any
    program with access to that object store, because they are not encrypted. Other servers and modules do not see them.
    """

    async def get(self, name: str) -> bytes | None:
        """Return what was stored last; None: nothing.

        Args:
            name: Any text.
        Raises:
            ToolError: `storage_failed`.
        """
        ...

    async def put(self, name: str, data: bytes) -> None:
        """Replace the stored bytes, completely or not at all.

        Raises:
            ToolError: `storage_too_large`: it has more than 16 MiB; `storage_failed`: it could not be stored, and the
                previous bytes may still exist.
        """
        ...

    async def delete(self, name: str) -> None:
        """Store nothing any more; there need not be anything.

        Raises:
            ToolError: `storage_failed`.
        """
        ...
