"""The life of modules: found, loaded, read, started, stopped, reloaded; the tools that they bring."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.core.declarations.components import policy_lines
    from agentcore.core.declarations.definitions import RESERVED_NAMES
    from agentcore.core.declarations.hosted_names import host_in, is_member, is_pool_kind, pool_of
    from agentcore.core.discovery.source_search import title_of
    from agentcore.core.modules.family_block import block_model, raw_block, settings_in_code
    from agentcore.core.modules.host_protocols import HostReport, ModuleHosts
    from agentcore.core.modules.json_schema import Validate, check_cost, compile_schema
    from agentcore.core.modules.module_record import ModuleRecord, RegisteredTool, ToolFormat
    from agentcore.core.modules.modules import Modules
    from agentcore.core.modules.page_policy_additions import page_additions
    from agentcore.core.modules.routes import ModuleRoute, RouteTable
    from agentcore.core.modules.source_choice import SourceChoice, remembered_sources
    from agentcore.core.modules.tool_registry import HostFacts, ToolRegistry
    from agentcore.core.modules.validation import invalid_arguments

__all__ = [
    "RESERVED_NAMES",
    "HostFacts",
    "HostReport",
    "ModuleHosts",
    "ModuleRecord",
    "ModuleRoute",
    "Modules",
    "RegisteredTool",
    "RouteTable",
    "SourceChoice",
    "ToolFormat",
    "ToolRegistry",
    "Validate",
    "block_model",
    "check_cost",
    "compile_schema",
    "host_in",
    "invalid_arguments",
    "is_member",
    "is_pool_kind",
    "page_additions",
    "policy_lines",
    "pool_of",
    "raw_block",
    "remembered_sources",
    "settings_in_code",
    "title_of",
]

_HOMES = {
    "HostFacts": "agentcore.core.modules.tool_registry",
    "ModuleHosts": "agentcore.core.modules.host_protocols",
    "ModuleRecord": "agentcore.core.modules.module_record",
    "ModuleRoute": "agentcore.core.modules.routes",
    "Modules": "agentcore.core.modules.modules",
    "HostReport": "agentcore.core.modules.host_protocols",
    "RESERVED_NAMES": "agentcore.core.declarations.definitions",
    "RegisteredTool": "agentcore.core.modules.module_record",
    "RouteTable": "agentcore.core.modules.routes",
    "SourceChoice": "agentcore.core.modules.source_choice",
    "ToolFormat": "agentcore.core.modules.module_record",
    "ToolRegistry": "agentcore.core.modules.tool_registry",
    "Validate": "agentcore.core.modules.json_schema",
    "block_model": "agentcore.core.modules.family_block",
    "check_cost": "agentcore.core.modules.json_schema",
    "compile_schema": "agentcore.core.modules.json_schema",
    "host_in": "agentcore.core.declarations.hosted_names",
    "invalid_arguments": "agentcore.core.modules.validation",
    "is_member": "agentcore.core.declarations.hosted_names",
    "is_pool_kind": "agentcore.core.declarations.hosted_names",
    "page_additions": "agentcore.core.modules.page_policy_additions",
    "policy_lines": "agentcore.core.declarations.components",
    "pool_of": "agentcore.core.declarations.hosted_names",
    "raw_block": "agentcore.core.modules.family_block",
    "remembered_sources": "agentcore.core.modules.source_choice",
    "settings_in_code": "agentcore.core.modules.family_block",
    "title_of": "agentcore.core.discovery.source_search",
}


def __getattr__(name: str) -> object:
    # at first use: a worker needs single files of this package, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
