"""MCP over HTTP: the transport. What clients ask is answered by `agentcore.mcp`; imported at the first request."""

from agentcore.server.mcp.lazy_endpoint import McpEntrance
from agentcore.server.mcp.pipes import Pipes
from agentcore.server.mcp.routes import MCP_PATH, ROUTES
