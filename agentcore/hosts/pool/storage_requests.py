"""Storage for hosts of a pool over their links: only the server reads and writes the pool's bucket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from agentcore.bounds import STORED_BYTES
from agentcore.core.declarations.module_storage import StoredBytes
from agentcore.errors import ToolError
from agentcore.hosts.server_end.handlers import Handlers
from agentcore.hosts.server_end.messages import Number, OfModule
from agentcore.hosts.wire.peer import Message, Peer

_AT_ONCE = 2


class OfKey(OfModule):
    """Something about what a module stores."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class PutBytes(OfKey):
    """Bytes to store."""

    blob: Number


class StorageRequests:
    """Answers storage requests of the modules of one host.

    Args:
        store_of: Returns the storage of a module, by the number of its start.
    """

    def __init__(self, peer: Peer, store_of: Callable[[OfModule], StoredBytes]) -> None:
        self._peer = peer
        self._store_of = store_of
        self._working = asyncio.Semaphore(_AT_ONCE)

    def request_handlers(self, handlers: Handlers) -> dict[str, Callable[[Message], Awaitable[Any]]]:
        """The handlers, by the types of requests."""
        return {
            "storage.get": handlers.request_handler(OfKey, self._get),
            "storage.put": handlers.request_handler(PutBytes, self._put),
            "storage.delete": handlers.request_handler(OfKey, self._delete),
        }

    async def _get(self, asked: OfKey) -> int | None:
        async with self._working:
            data = await self._store_of(asked).get(asked.key)
            return None if data is None else await self._peer.send_blob(data)

    async def _put(self, asked: PutBytes) -> None:
        data = self._peer.pop_blob(asked.blob)
        if len(data) > STORED_BYTES:
            message = f"{len(data):,} bytes are too many to be stored under one name: {STORED_BYTES:,} are the limit"
            raise ToolError("storage_too_large", message, size_bytes=len(data), limit_bytes=STORED_BYTES)
        async with self._working:
            await self._store_of(asked).put(asked.key, data)

    async def _delete(self, asked: OfKey) -> None:
        async with self._working:
            await self._store_of(asked).delete(asked.key)
