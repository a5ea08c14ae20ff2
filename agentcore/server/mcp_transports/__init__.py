"""The MCP transports. `agentcore.mcp_endpoint` answers the requests; it is imported at the first one."""

from agentcore.server.mcp_transports.lazy_endpoint import McpEntrance
from agentcore.server.mcp_transports.mcp_routes import MCP_PATH, ROUTES
from agentcore.server.mcp_transports.pipes import Pipes
