"""Storage of a module on a host of a pool: its server stores the data, for other hosts of the pool."""

import asyncio
from typing import Any

from agentcore.api.operation import Operation
from agentcore.core.declarations.module_storage import StoredBytes
from agentcore.hosts.wire.operation_messages import decode_answer, encode_request
from agentcore.hosts.worker.operation_requests import with_requests
from agentcore.hosts.worker.server_connection import Line

_LIMIT_SECONDS = 40.0
"""The server itself gives up waiting for NATS after 30 s."""


@with_requests(StoredBytes)
class ServerStorage(StoredBytes):
    """Implements `StoredBytes` for one module by asking the server over the link.

    Args:
        module: The module's number.
    """

    def __init__(self, line: Line, module: int) -> None:
        self._line = line
        self._module = module

    async def request_operation(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        fields, data = encode_request(operation, arguments)
        message = {"type": operation.name, "module": self._module, **fields}
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                answer = await self._line.request(message, data, is_repeatable=operation.is_repeatable)
        except TimeoutError:
            raise TimeoutError("the server did not answer in time") from None
        return decode_answer(operation, answer, self._line.pop_blob)
