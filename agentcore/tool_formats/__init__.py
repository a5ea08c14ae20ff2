"""Tool definitions in the forms that model providers and MCP clients accept."""
