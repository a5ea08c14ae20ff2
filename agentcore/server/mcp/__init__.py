"""The MCP transports. `agentcore.mcp` answers the requests; it is imported at the first one."""

from agentcore.server.mcp.lazy_endpoint import McpEntrance
from agentcore.server.mcp.pipes import Pipes
from agentcore.server.mcp.routes import MCP_PATH, ROUTES
