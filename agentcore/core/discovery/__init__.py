"""Finds the code of modules: entry points, local folders, requirements."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.core.discovery.families import FamilyMember, name_of_block, nameless_blocks
    from agentcore.core.discovery.installed import Family, installed_entries, installed_families
    from agentcore.core.discovery.source_search import (
        Found,
        ModuleNotChosen,
        choose_command,
        find_candidates,
        find_module,
        installed_names,
    )

__all__ = [
    "Family",
    "FamilyMember",
    "Found",
    "ModuleNotChosen",
    "choose_command",
    "find_candidates",
    "find_module",
    "installed_entries",
    "installed_families",
    "installed_names",
    "name_of_block",
    "nameless_blocks",
]

_HOMES = {
    "Family": "agentcore.core.discovery.installed",
    "FamilyMember": "agentcore.core.discovery.families",
    "Found": "agentcore.core.discovery.source_search",
    "ModuleNotChosen": "agentcore.core.discovery.source_search",
    "find_candidates": "agentcore.core.discovery.source_search",
    "choose_command": "agentcore.core.discovery.source_search",
    "find_module": "agentcore.core.discovery.source_search",
    "installed_entries": "agentcore.core.discovery.installed",
    "installed_families": "agentcore.core.discovery.installed",
    "installed_names": "agentcore.core.discovery.source_search",
    "name_of_block": "agentcore.core.discovery.families",
    "nameless_blocks": "agentcore.core.discovery.families",
}


def __getattr__(name: str) -> object:
    # at first use: a worker needs single files of this package, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
