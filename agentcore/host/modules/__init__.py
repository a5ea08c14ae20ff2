"""The life of modules: found, loaded, read, started, stopped, reloaded; the tools that they bring."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.host.declarations.components import policy_lines
    from agentcore.host.declarations.definitions import RESERVED_NAMES
    from agentcore.host.declarations.hosted_names import host_in, is_member, pool_of
    from agentcore.host.discovery.finding import title_of
    from agentcore.host.modules.added_to_page import page_additions
    from agentcore.host.modules.family_block import block_model, raw_block, settings_in_code
    from agentcore.host.modules.json_schema import Validate, check_cost, compile_schema
    from agentcore.host.modules.module_record import ModuleRecord, RegisteredTool, ToolFormat
    from agentcore.host.modules.places import PlaceReport
    from agentcore.host.modules.routes import ModuleRoute, RouteTable
    from agentcore.host.modules.source_choice import remembered_sources
    from agentcore.host.modules.tool_registry import HostFacts, ToolRegistry
    from agentcore.host.modules.validation import invalid_arguments

__all__ = [
    "RESERVED_NAMES",
    "HostFacts",
    "ModuleRecord",
    "ModuleRoute",
    "PlaceReport",
    "RegisteredTool",
    "RouteTable",
    "ToolFormat",
    "ToolRegistry",
    "Validate",
    "block_model",
    "check_cost",
    "compile_schema",
    "host_in",
    "invalid_arguments",
    "is_member",
    "page_additions",
    "policy_lines",
    "pool_of",
    "raw_block",
    "remembered_sources",
    "settings_in_code",
    "title_of",
]

_HOMES = {
    "HostFacts": "agentcore.host.modules.tool_registry",
    "ModuleRecord": "agentcore.host.modules.module_record",
    "ModuleRoute": "agentcore.host.modules.routes",
    "PlaceReport": "agentcore.host.modules.places",
    "RESERVED_NAMES": "agentcore.host.declarations.definitions",
    "RegisteredTool": "agentcore.host.modules.module_record",
    "RouteTable": "agentcore.host.modules.routes",
    "ToolFormat": "agentcore.host.modules.module_record",
    "ToolRegistry": "agentcore.host.modules.tool_registry",
    "Validate": "agentcore.host.modules.json_schema",
    "block_model": "agentcore.host.modules.family_block",
    "check_cost": "agentcore.host.modules.json_schema",
    "compile_schema": "agentcore.host.modules.json_schema",
    "host_in": "agentcore.host.declarations.hosted_names",
    "invalid_arguments": "agentcore.host.modules.validation",
    "is_member": "agentcore.host.declarations.hosted_names",
    "page_additions": "agentcore.host.modules.added_to_page",
    "policy_lines": "agentcore.host.declarations.components",
    "pool_of": "agentcore.host.declarations.hosted_names",
    "raw_block": "agentcore.host.modules.family_block",
    "remembered_sources": "agentcore.host.modules.source_choice",
    "settings_in_code": "agentcore.host.modules.family_block",
    "title_of": "agentcore.host.discovery.finding",
}


def __getattr__(name: str) -> object:
    # at first use: a process that runs modules for a server needs single files of this room, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
