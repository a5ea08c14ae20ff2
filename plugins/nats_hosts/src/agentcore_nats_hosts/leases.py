"""Ownership in a pool: a lease for each resource, which is sent with every call on it.

The number of a lease increases whenever a server takes it over. A host refuses calls with an older one, so
that a server that was wrongly considered dead can no longer act.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import ToolError
from agentcore_nats_hosts.connection import NatsConnection
from agentcore_nats_hosts.subjects import Subjects

if TYPE_CHECKING:
    from nats.js.kv import KeyValue

log = structlog.get_logger(__name__)

_AGAIN_SECONDS = 0.5
_RENEWALS = 3
"""A lease is renewed so often before it would expire."""


class Leases:
    """The leases of one server.

    Args:
        server: The name of their owner.
        keep_s: How long one lasts that is not renewed, because its server has gone.
    Attributes:
        held: The number of each, by resource id.
    """

    def __init__(self, nats: NatsConnection, subjects: Subjects, server: str, keep_s: float) -> None:
        self._nats = nats
        self._subjects = subjects
        self._server = server
        self._keep_s = keep_s
        self._bucket: KeyValue | None = None
        self._taking: dict[str, asyncio.Lock] = {}
        self.held: dict[str, int] = {}

    async def open(self) -> None:
        """Open or create the bucket.

        Raises:
            ConnectionError, nats.errors.Error: NATS does not allow it.
        """
        from nats.js.api import KeyValueConfig  # noqa: PLC0415 - only pools need it

        config = KeyValueConfig(bucket=self._subjects.leases_bucket, ttl=self._keep_s)
        self._bucket = await self._nats.jetstream().create_key_value(config=config)

    async def acquire_lease(self, resource_id: str, member: str, limit_s: float) -> None:
        """Become the owner of a resource.

        Args:
            member: The host of the resource.
            limit_s: How long NATS may be unreachable meanwhile.
        Raises:
            ToolError: `lease_unknown`: NATS does not reply.
        """
        if resource_id in self.held:
            return
        async with self._taking.setdefault(resource_id, asyncio.Lock()):
            if resource_id not in self.held:
                self.held[resource_id] = await self._acquire_in_time(resource_id, member, limit_s)
        self._taking.pop(resource_id, None)

    async def _acquire_in_time(self, resource_id: str, member: str, limit_s: float) -> int:
        """Take a lease, as often as that is worth a try: what was done without an answer is found to be done then."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while True:
            try:
                return await self._acquire_once(resource_id, member)
            except ToolError as exc:
                if not exc.retryable or loop.time() + _AGAIN_SECONDS > until:
                    raise
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _acquire_once(self, resource_id: str, member: str) -> int:
        from nats.js.errors import KeyWrongLastSequenceError  # noqa: PLC0415 - as above

        key = self._lease_key(resource_id)
        value = member.encode()
        try:
            bucket = self._bucket_now()
            try:
                return await bucket.create(key, value)
            except KeyWrongLastSequenceError:
                # an earlier start of this server, whose messages are refused from now on
                found = await bucket.get(key)
                return await bucket.update(key, value, last=found.revision)
        except Exception as exc:
            raise _lease_unknown_error(resource_id, exc) from exc

    def release_lease(self, resource_id: str) -> Callable[[], Coroutine[Any, Any, None]] | None:
        """Delete the lease of an ended resource; return a task that notifies the others."""
        number = self.held.pop(resource_id, None)
        if number is None:
            return None
        return lambda: self._delete_lease(resource_id, number)

    async def _delete_lease(self, resource_id: str, number: int) -> None:
        with contextlib.suppress(Exception):  # it expires
            await self._bucket_now().delete(self._lease_key(resource_id), last=number)

    async def renew_periodically(self) -> None:
        """Renew all of them, again and again. Ends when it is cancelled."""
        from nats.js.errors import KeyWrongLastSequenceError  # noqa: PLC0415 - as above

        while True:
            await asyncio.sleep(self._keep_s / _RENEWALS)
            for resource_id, number in list(self.held.items()):
                try:
                    await self._nats.wait_until_up()
                    renewed = await self._bucket_now().update(self._lease_key(resource_id), b"", last=number)
                except KeyWrongLastSequenceError:
                    log.warning("lease_taken_over", resource_id=resource_id)
                    self.held.pop(resource_id, None)
                    continue
                except Exception as exc:  # noqa: BLE001 - NATS is away: the number is valid until another server takes over
                    log.warning("lease_not_renewed", resource_id=resource_id, reason=str(exc))
                    continue
                if resource_id in self.held:
                    self.held[resource_id] = renewed

    def _bucket_now(self) -> "KeyValue":
        if self._bucket is None:
            raise ConnectionResetError("there is no connection to NATS")
        return self._bucket

    def _lease_key(self, resource_id: str) -> str:
        """Return a valid key: callers choose the ids of sessions, which may contain anything."""
        return f"{self._server}.{hashlib.sha256(resource_id.encode('utf-8', 'replace')).hexdigest()[:40]}"


def _lease_unknown_error(resource_id: str, reason: Exception) -> ToolError:
    message = f"NATS did not say who owns {resource_id!r} ({reason}); nothing was done: try again"
    return ToolError("lease_unknown", message, retryable=True, resource_id=resource_id)
