"""What a module stores on this machine: a file each, in a folder of its data."""

import asyncio
from pathlib import Path

from agentcore.bounds import STORED_BYTES
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file

_FOLDER = ".storage"


class StoredFiles:
    """Keeps bytes by key in files that their owner alone may read.

    Args:
        data_dir: The data folder of the module.
    """

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / _FOLDER

    async def get(self, key: str) -> bytes | None:
        """What was stored last; None: nothing.

        Raises:
            OSError, StateDirError: It cannot be read.
        """
        return await asyncio.to_thread(read_private_file, self._folder / key, STORED_BYTES)

    async def put(self, key: str, data: bytes) -> None:
        """Store this; a reader sees all of it, or what was there before.

        Raises:
            OSError, StateDirError: It cannot be written.
        """
        await asyncio.to_thread(self._write, key, data)

    async def delete(self, key: str) -> None:
        """Remove it, if it is there.

        Raises:
            OSError: It cannot be removed.
        """
        await asyncio.to_thread((self._folder / key).unlink, missing_ok=True)

    def _write(self, key: str, data: bytes) -> None:
        make_private_folder(self._folder)
        write_private_file(self._folder / key, data)
