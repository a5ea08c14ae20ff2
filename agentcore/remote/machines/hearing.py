"""Which events modules of another machine hear of."""

from collections.abc import Mapping
from typing import Any

from agentcore.host.declarations.hosted_names import host_in
from agentcore.host.resources.registry import ResourceRegistry

_HEARD = frozenset(("stop.changed", "session.deleted"))
"""Events of the server itself that they may hear of, beside those of their own resources."""


def may_hear(host: str, resources: ResourceRegistry, event: Mapping[str, Any]) -> bool:
    """Whether an event is any business of a host's."""
    kind, resource_id = event.get("type"), event.get("resourceId")
    if kind in _HEARD or (isinstance(kind, str) and host_in(kind) == host):
        return True
    owner = resources.owner_of(resource_id) if isinstance(resource_id, str) else None
    return owner is not None and host_in(owner) == host
