"""Tool definitions in the forms that model providers and MCP clients accept."""

from agentcore.tool_formats.check import Finding, check_tool
from agentcore.tool_formats.dialect_schema import Lowered, lower_schema
from agentcore.tool_formats.dialects import DIALECTS, Dialect, DialectName
from agentcore.tool_formats.formats import FORMS, FormName, LoweredSchema, ToolForm
from agentcore.tool_formats.schema_references import inline_references
