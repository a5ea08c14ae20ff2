"""Files stored by a module on this machine: one per key, in its data folder."""

import asyncio
from pathlib import Path

from agentcore.limits import STORED_BYTES
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file

_FOLDER = ".storage"


class StoredFiles:
    """Stores bytes by key in files readable only by their owner.

    Args:
        data_dir: The data folder of the module.
    """

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / _FOLDER

    async def get(self, key: str) -> bytes | None:
        """Return the stored bytes, or None if there are none.

        Raises:
            OSError, StateDirError: They cannot be read.
        """
        return await asyncio.to_thread(read_private_file, self._folder / key, STORED_BYTES)

    async def put(self, key: str, data: bytes) -> None:
        """Store bytes; a reader sees all of them, or the previous ones.

        Raises:
            OSError, StateDirError: They cannot be written.
        """
        await asyncio.to_thread(self._write, key, data)

    async def delete(self, key: str) -> None:
        """Delete the bytes, if there are any.

        Raises:
            OSError: They cannot be deleted.
        """
        await asyncio.to_thread((self._folder / key).unlink, missing_ok=True)

    def _write(self, key: str, data: bytes) -> None:
        make_private_folder(self._folder)
        write_private_file(self._folder / key, data)
