"""The MCP transports. `agentcore.mcp_endpoint` answers the requests; it is imported at the first one."""
