"""The resources of a host: managed here as in a server, and reported to the server."""

from collections.abc import Callable, Mapping
from typing import Any

from agentcore.api import Image
from agentcore.api.resource import Reopening, Resource, ResourceEvent, ResourceUpdate
from agentcore.core.events import Event, EventBus
from agentcore.core.resources.registry import OnRelease, ResourceRegistry
from agentcore.hosts.wire.values import resource_to_wire
from agentcore.hosts.worker.server_connection import Line


class WorkerResources(ResourceRegistry):
    """The registry of a host: every change of a resource is reported to the server, which has them all.

    The server assigns ids to resources that its calls start; those that modules create here get the next free index,
    which is sent with each call.
    """

    def __init__(self, line: Line) -> None:
        super().__init__(EventBus(kept=0))
        self._line = line

    def watch_changes(self, tell: Callable[[Event], None]) -> None:
        """Report each change of a resource here in the server's event format, to the program that started this host."""
        self._events.subscribe("resource.stateChanged", tell)

    def create(
        self,
        owner: str,
        resource_type: str,
        session_id: str,
        *,
        adapter_type: str = "",
        keys: Mapping[str, str] | None = None,
        on_release: OnRelease | None = None,
        former_id: str | None = None,
    ) -> Resource:
        made = super().create(
            owner,
            resource_type,
            session_id,
            adapter_type=adapter_type,
            keys=keys,
            on_release=on_release,
            former_id=former_id,
        )
        self._send_resource("resource.create", made, owner=owner)
        return made

    def adopt(self, owner: str, resource_id: str, on_release: OnRelease) -> Resource:
        adopted = super().adopt(owner, resource_id, on_release)
        self._send_resource("resource.adopt", adopted)
        return adopted

    def update(self, resource_id: str, change: ResourceUpdate, *, owner: str | None = None) -> Resource:
        updated = super().update(resource_id, change, owner=owner)
        self._send_resource("resource.update", updated, **_optional_fields(change.icon, change.reopening))
        return updated

    def emit(
        self, resource_id: str, event: ResourceEvent, data: Mapping[str, Any], *, owner: str | None = None
    ) -> None:
        found = self.get(resource_id, owner)
        self._line.send_message(
            {"type": "resource.event", "resourceId": found.resource_id, "event": event, "data": dict(data)}
        )

    async def release(self, resource_id: str, owner: str | None = None, reason: str = "", *, lost_by: str = "") -> None:
        is_here = any(each.resource_id == resource_id for each in self.list(owner=owner))
        await super().release(resource_id, owner, reason, lost_by=lost_by)
        if is_here:
            self._line.send_message({"type": "resource.release", "resourceId": resource_id, "reason": reason})

    def set_next_indexes(self, session_id: str, indexes: Mapping[str, int]) -> None:
        """Set the next free index of each type in a session, as sent by the server."""
        for resource_type, index in indexes.items():
            self.indexes.skip_to((session_id, resource_type), index)

    def resolve_resource(self, owner: str, told: Resource, *, runs: bool) -> Resource:
        """Return the resource that a call acts on: the one here, else a new one from the server's data.

        Args:
            runs: True if it exists from now on; else the call is only previewed.
        """
        held = self._entries.get(told.resource_id)
        if held is not None:
            return held.resource
        return self.admit_resource(owner, told) if runs else told

    def discard_planned(self, resource: Resource) -> None:
        """Remove the resource of an ended call that was never opened: it is planned again at the server only."""
        held = self._entries.get(resource.resource_id)
        if held is not None and held.on_release is None and resource.status == "starting":
            del self._entries[resource.resource_id]
            resource.status = "closed"
            self._publish_state(resource)

    async def release_quietly(self, resource_id: str) -> None:
        """End a resource at the server's request, without reporting it."""
        await super().release(resource_id)

    def resend_resources(self, owner: str, module: int) -> None:
        """Report all resources of a module and their state to a server that may not know them."""
        for entry in self._entries.values():
            if entry.owner == owner:
                held = entry.resource
                self._send_resource("resource.held", held, owner=owner, **_optional_fields(held.icon, held.reopening))
        living = [resource_id for resource_id, entry in self._entries.items() if entry.owner == owner]
        self._line.send_message({"type": "resource.all", "module": module, "living": living})

    def _send_resource(self, kind: str, resource: Resource, **also: Any) -> None:
        self._line.send_message({"type": kind, "resource": resource_to_wire(resource), **also})


def _optional_fields(icon: Image | None, reopening: Reopening | None) -> dict[str, Any]:
    """Return the fields of a message besides the resource itself."""
    also: dict[str, Any] = {}
    if icon is not None:
        also["icon"] = {"mime": icon.mime, "base64": icon.to_json()["base64"]}
    if reopening is not None:
        also["reopening"] = {"tool": reopening[0], "arguments": dict(reopening[1])}
    return also
