"""Which events modules of a foreign machine receive."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from agentcore.api import Background
from agentcore.core.declarations.hosted_names import host_in
from agentcore.core.resources.registry import ResourceRegistry
from agentcore.store.record.query import RecordFilter
from agentcore.store.record.record import Record


class Hearing:
    """Forwards events to the modules of one host: those of its own resources, and of sessions that it works or worked
    for.

    Args:
        host: Its name.
        modules: The names of its modules here.
        known_since_ms: Since when this host has the name, in milliseconds since 1970.
    """

    def __init__(
        self,
        host: str,
        modules: Callable[[], Collection[str]],
        resources: ResourceRegistry,
        record: Record,
        known_since_ms: int,
    ) -> None:
        self._host = host
        self._modules = modules
        self._resources = resources
        self._record = record
        self._known_since_ms = known_since_ms
        self._looking = Background(f"host:{host}:hearing")

    def pass_on(self, event: Mapping[str, Any], tell: Callable[[], None]) -> None:
        """Forward an event, now or soon, if it concerns the host."""
        if event.get("type") == "session.deleted":
            self._looking.start(self._tell_of_session(str(event.get("sessionId", "")), tell))
        elif self._is_its_own(event):
            tell()

    async def close(self) -> None:
        """Tell of nothing more."""
        await self._looking.stop()

    async def _tell_of_session(self, session_id: str, tell: Callable[[], None]) -> None:
        """Forward an event of a session whose calls the host got, possibly from an earlier start of the server."""
        for module in self._modules():
            calls = RecordFilter(module=module, session_id=session_id, kind="call")
            newest = await self._record.read_page(calls, limit=1)
            if newest and newest[0].row.time_ms >= self._known_since_ms:
                tell()
                return

    def _is_its_own(self, event: Mapping[str, Any]) -> bool:
        kind = event.get("type")
        resource_id = event.get("resourceId")
        if kind == "stop.changed" or (isinstance(kind, str) and host_in(kind) == self._host):
            return True
        owner = self._resources.owner_of(resource_id) if isinstance(resource_id, str) else None
        return owner is not None and host_in(owner) == self._host
