"""Storage of a module on a host of a pool: its server stores the data, for other hosts of the pool."""

import asyncio
from typing import Any

from agentcore.hosts.worker.server_connection import Line

_LIMIT_SECONDS = 40.0
"""The server itself gives up waiting for NATS after 30 s."""


class ServerStorage:
    """Implements `StoredBytes` for one module by asking the server over the link.

    Args:
        module: The module's number.
    """

    def __init__(self, line: Line, module: int) -> None:
        self._line = line
        self._module = module

    async def get(self, key: str) -> bytes | None:
        blob = await self._request_storage("get", key)
        return None if blob is None else self._line.pop_blob(blob)

    async def put(self, key: str, data: bytes) -> None:
        await self._request_storage("put", key, data)

    async def delete(self, key: str) -> None:
        await self._request_storage("delete", key)

    async def _request_storage(self, action: str, key: str, data: bytes | None = None) -> Any:
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                message = {"type": f"storage.{action}", "module": self._module, "key": key}
                return await self._line.request(message, data)
        except TimeoutError:
            raise TimeoutError("the server did not answer in time") from None
