"""MCP servers as modules: one for each block under `mcpServers` in app.json."""

from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.module import McpServer


def family(name: str, block: ServerBlock) -> McpServer:
    """Create the module for one server."""
    return McpServer(name, block)


__all__ = ["McpServer", "ServerBlock", "family"]
