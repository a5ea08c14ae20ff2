"""Resources, which survive calls, with their queues and their tabs."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.core.resources.last_seen import LastSeen
    from agentcore.core.resources.registry import ResourceRegistry

__all__ = ["LastSeen", "ResourceRegistry"]

_HOMES = {
    "LastSeen": "agentcore.core.resources.last_seen",
    "ResourceRegistry": "agentcore.core.resources.registry",
}


def __getattr__(name: str) -> object:
    # at first use: a worker needs single files of this package, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
