"""The model that the user chose last from a provider's list; used wherever none is named."""

import asyncio
import json
from pathlib import Path

import structlog

from agentcore.store.state.private_file import read_private_file, write_private_file

log = structlog.get_logger(__name__)

_FILE = "chosen-model.json"
_FILE_LIMIT_BYTES = 4 * 1024


class ChosenModel:
    """A `provider:model` in the state folder; not in app.json, because it permits nothing new.

    Args:
        folder: The state folder.

    Attributes:
        name: `provider:model`; None: nothing was chosen.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self.name = self._read_stored_name()

    async def store_name(self, name: str | None) -> None:
        """Store the model to use from now on; None resets the choice."""
        if name == self.name:
            return
        await asyncio.to_thread(write_private_file, self._path, json.dumps({"model": name}).encode())
        self.name = name

    def _read_stored_name(self) -> str | None:
        content = read_private_file(self._path, _FILE_LIMIT_BYTES)
        if content is None:
            return None
        try:
            name = json.loads(content)["model"]
        except (ValueError, TypeError, KeyError):
            log.warning("chosen_model_unreadable", path=str(self._path), hint="choose a model again")
            return None
        return name if isinstance(name, str) and name else None
