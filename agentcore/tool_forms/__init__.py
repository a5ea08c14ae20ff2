"""Tool definitions in the forms that model providers and MCP clients accept."""

from agentcore.tool_forms.check import Finding, check_tool
from agentcore.tool_forms.dialect_schema import Lowered, lower_schema
from agentcore.tool_forms.dialects import DIALECTS, Dialect, DialectName
from agentcore.tool_forms.forms import FORMS, FormName, LoweredSchema, ToolForm
from agentcore.tool_forms.references import inline_references
