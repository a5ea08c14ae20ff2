"""Secrets that modules obtain themselves, such as tokens: one file per module that only its owner may read."""

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import structlog
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from agentcore.secrets import register_masked_values
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file
from agentcore.store.state.state_errors import StateDirError

log = structlog.get_logger(__name__)

MODULE_SECRETS_BYTES = 256 * 1024
"""Maximum size of all secrets of one module."""

_FOLDER = "module_secrets"
_KEPT = TypeAdapter(dict[str, str])
_MODULE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


class ModuleSecrets:
    """Implements `agentcore.api.Secrets` for one module, from its start to `close`.

    Args:
        folder: The state folder.
        module: The module's name.
    """

    def __init__(self, folder: Path, module: str) -> None:
        self._path = _secrets_path(folder, module)
        self._turn = asyncio.Lock()
        self._unmask: Callable[[], None] = lambda: None

    async def read(self) -> dict[str, str]:
        """Return all stored secrets, and mask them in logs from now on."""
        async with self._turn:
            values = await asyncio.to_thread(self._read)
            self._mask(values)
            return values

    async def write(self, values: Mapping[str, str]) -> None:
        """Replace all stored secrets; raises `ValueError` if they exceed `MODULE_SECRETS_BYTES`."""
        kept = _KEPT.validate_python(dict(values), strict=True)
        content = to_json(kept)
        if len(content) > MODULE_SECRETS_BYTES:
            raise ValueError(f"the secrets of a module have at most {MODULE_SECRETS_BYTES} bytes together")
        async with self._turn:
            self._mask(kept)
            await asyncio.to_thread(self._write, content if kept else b"")

    def close(self) -> None:
        """Stop masking this module's secrets."""
        self._mask({})

    def _mask(self, values: Mapping[str, str]) -> None:
        mask = register_masked_values(values.values())
        self._unmask()
        self._unmask = mask

    def _read(self) -> dict[str, str]:
        try:
            content = read_private_file(self._path, MODULE_SECRETS_BYTES)
            return {} if content is None else _KEPT.validate_json(content, strict=True)
        except (StateDirError, ValidationError):
            # not chained: the cause quotes secrets
            log.warning("module_secrets_damaged", file=str(self._path))
            return {}

    def _write(self, content: bytes) -> None:
        if not content:
            self._path.unlink(missing_ok=True)
            return
        make_private_folder(self._path.parent)
        write_private_file(self._path, content)


def delete_module_secrets(folder: Path, module: str) -> None:
    """Delete the stored secrets of a module permanently.

    Args:
        folder: The state folder.
        module: The module's name.
    Raises:
        OSError: It cannot be removed.
    """
    _secrets_path(folder, module).unlink(missing_ok=True)


def _secrets_path(folder: Path, module: str) -> Path:
    if not _MODULE_NAME.fullmatch(module):
        raise ValueError(f"not the name of a module: {module!r}")
    return folder / _FOLDER / f"{module}.json"
