"""Storage of a module on a host of a pool: objects of the pool's NATS, which the server manages for all its hosts."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from agentcore_nats_hosts.connection import NatsConnection
from agentcore_nats_hosts.subjects import Subjects

if TYPE_CHECKING:
    from nats.js.object_store import ObjectStore

_LIMIT_SECONDS = 30.0
_READ_SECONDS = 5.0
_READS = 3
"""One that is replaced while it is read never comes to its end: it is read once more."""

T = TypeVar("T")


class StoredObjects:
    """Keeps bytes by key for one module of one server.

    Args:
        server: The id of the server; what another one stores has other names.
        module: The module's name.
    """

    def __init__(self, nats: NatsConnection, subjects: Subjects, server: str, module: str) -> None:
        self._nats = nats
        self._subjects = subjects
        self._prefix = f"{server}.{module}"

    async def get(self, key: str) -> bytes | None:
        """Return what was stored last; None: nothing.

        Raises:
            Exception: NATS does not return it.
        """
        from nats.js.errors import ObjectNotFoundError  # noqa: PLC0415 - only pools need it

        async def read(store: "ObjectStore") -> bytes | None:
            for left in reversed(range(_READS)):
                try:
                    async with asyncio.timeout(_READ_SECONDS):
                        return (await store.get(self._object_name(key))).data or b""
                except ObjectNotFoundError:
                    return None
                except TimeoutError:
                    if not left:
                        raise
            return None

        return await self._run_with_store(read)

    async def put(self, key: str, data: bytes) -> None:
        """Store this; a reader sees either all of it, or the previous content.

        Raises:
            Exception: NATS does not accept it.
        """
        await self._run_with_store(lambda store: store.put(self._object_name(key), data))

    async def delete(self, key: str) -> None:
        """Remove it, if it is there.

        Raises:
            Exception: NATS does not do it.
        """
        from nats.js.errors import ObjectNotFoundError  # noqa: PLC0415 - as above

        async def remove(store: "ObjectStore") -> None:
            try:
                await store.delete(self._object_name(key))
            except ObjectNotFoundError:
                return

        await self._run_with_store(remove)

    async def _run_with_store(self, work: "Callable[[ObjectStore], Awaitable[T]]") -> T:
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                await self._nats.wait_until_up()
                return await work(await self._open_store())
        except TimeoutError:
            raise TimeoutError("NATS did not answer in time") from None

    async def _open_store(self) -> "ObjectStore":
        from nats.js.errors import BucketNotFoundError  # noqa: PLC0415 - as above

        jetstream = self._nats.jetstream()
        try:
            return await jetstream.object_store(self._subjects.storage_bucket)
        except BucketNotFoundError:
            return await jetstream.create_object_store(self._subjects.storage_bucket)

    def _object_name(self, key: str) -> str:
        return f"{self._prefix}.{key}"
