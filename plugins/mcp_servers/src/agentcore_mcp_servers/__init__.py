"""MCP servers as modules: each block under `mcpServers` in app.json is one."""

from agentcore_mcp_servers.block import ServerBlock
from agentcore_mcp_servers.module import McpServer


def family(name: str, block: ServerBlock) -> McpServer:
    """Make the module of one server."""
    return McpServer(name, block)


__all__ = ["McpServer", "ServerBlock", "family"]
