"""Storage of a module: names and bytes are read strictly, once; a backend stores them."""

import hashlib
from typing import Annotated, Protocol

from pydantic import Field

from agentcore.api.operation import operation
from agentcore.core.module_code.preview_state import refuse_in_preview
from agentcore.core.module_code.value_reading import WrongValueError, read_text
from agentcore.errors import ToolError
from agentcore.limits import STORED_BYTES

StorageKey = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""The key of stored bytes: SHA-256 of the name that the module gave."""


class StoredBytes(Protocol):
    """The backend that stores the bytes of one module, each under a key of letters and digits."""

    @operation("storage.get", scope="module", is_repeatable=True, narrowed={"key": StorageKey})
    async def get(self, key: str) -> bytes | None:
        """Return the stored bytes; None: there are none.

        Raises:
            Exception: It cannot be read; the message says why.
        """
        ...

    @operation("storage.put", scope="module", is_repeatable=True, narrowed={"key": StorageKey})
    async def put(self, key: str, data: bytes) -> None:
        """Replace the stored bytes.

        Raises:
            Exception: It cannot be written; the message says why.
        """
        ...

    @operation("storage.delete", scope="module", is_repeatable=True, narrowed={"key": StorageKey})
    async def delete(self, key: str) -> None:
        """Delete the stored bytes, if there are any.

        Raises:
            Exception: It cannot be deleted; the message says why.
        """
        ...


class ModuleStorage:
    """Implements `agentcore.api.Storage` for one module.

    Args:
        module: The module's name.
    """

    def __init__(self, stored: StoredBytes, module: str) -> None:
        self._stored = stored
        self._module = module

    async def get(self, name: str) -> bytes | None:
        key = self._storage_key(name, "get")
        try:
            return await self._stored.get(key)
        except Exception as exc:
            raise _storage_error("read", exc) from exc

    async def put(self, name: str, data: bytes) -> None:
        refuse_in_preview()
        key = self._storage_key(name, "put")
        if not isinstance(data, bytes):
            raise WrongValueError(f"data of storage.put in module {self._module!r}", "bytes", data)
        if (size := len(data)) > STORED_BYTES:
            message = f"{size:,} bytes are too many to be stored under one name: {STORED_BYTES:,} are the bound"
            raise ToolError("storage_too_large", message, size_bytes=size, limit_bytes=STORED_BYTES)
        try:
            await self._stored.put(key, data)
        except Exception as exc:
            raise _storage_error("stored", exc) from exc

    async def delete(self, name: str) -> None:
        refuse_in_preview()
        key = self._storage_key(name, "delete")
        try:
            await self._stored.delete(key)
        except Exception as exc:
            raise _storage_error("deleted", exc) from exc

    def _storage_key(self, name: str, method: str) -> str:
        """Return the key of a name: names are free text, and may be longer than a file name can be."""
        text = read_text(name, f"name of storage.{method} in module {self._module!r}")
        return hashlib.sha256(text.encode()).hexdigest()


def _storage_error(what: str, exc: Exception) -> ToolError:
    reason = str(exc) or type(exc).__name__
    return ToolError("storage_failed", f"it could not be {what}: {reason}; try again", retryable=True)
