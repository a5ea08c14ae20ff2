"""Storage for hosts of a pool over their links: only the server reads and writes the pool's bucket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentcore.api.operation import Operation, operations_of
from agentcore.core.declarations.module_storage import StoredBytes
from agentcore.errors import ToolError
from agentcore.hosts.server_side.host_messages import OfModule, read_answer, read_request
from agentcore.hosts.wire.operation_messages import encode_answer
from agentcore.hosts.wire.peer import Message, Peer
from agentcore.limits import STORED_BYTES

_AT_ONCE = 2


class StorageRequests:
    """Answers storage requests of the modules of one host.

    Args:
        store_of: Returns the storage of a module, by the number of its start.
    """

    def __init__(self, peer: Peer, store_of: Callable[[OfModule], StoredBytes]) -> None:
        self._peer = peer
        self._store_of = store_of
        self._working = asyncio.Semaphore(_AT_ONCE)

    def request_handlers(self) -> dict[str, Callable[[Message], Awaitable[Any]]]:
        """The handlers, by the types of requests."""
        return dict(self._storage_handler(each) for each in operations_of(StoredBytes).values())

    def _storage_handler(self, operation: Operation) -> tuple[str, Callable[[Message], Awaitable[Any]]]:
        async def handle_request(message: Message) -> Any:
            arguments = read_request(operation, message)
            store = self._store_of(read_answer(OfModule, message, operation.name))
            if "data" in arguments:
                arguments["data"] = self._pop_data(arguments["data"])
            async with self._working:
                answer = await getattr(store, operation.method)(**arguments)
                return await encode_answer(operation, answer, self._peer.send_blob)

        return operation.name, handle_request

    def _pop_data(self, blob: int) -> bytes:
        data = self._peer.pop_blob(blob)
        if len(data) > STORED_BYTES:
            message = f"{len(data):,} bytes are too many to be stored under one name: {STORED_BYTES:,} are the limit"
            raise ToolError("storage_too_large", message, size_bytes=len(data), limit_bytes=STORED_BYTES)
        return data
