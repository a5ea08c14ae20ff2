"""The life of modules: found, loaded, read, started, stopped, reloaded; the tools that they bring."""

from agentcore.host.declarations.components import policy_lines
from agentcore.host.declarations.definitions import RESERVED_NAMES
from agentcore.host.discovery.finding import title_of
from agentcore.host.modules.added_to_page import page_additions
from agentcore.host.modules.family_block import block_model, settings_in_code
from agentcore.host.modules.json_schema import Validate, check_cost, compile_schema
from agentcore.host.modules.module_record import ModuleRecord, RegisteredTool, ToolFormat
from agentcore.host.modules.routes import ModuleRoute, RouteTable
from agentcore.host.modules.source_choice import remembered_sources
from agentcore.host.modules.tool_registry import ToolRegistry
from agentcore.host.modules.validation import invalid_arguments
