"""Configuration of other clients: reads their MCP servers, and adds or removes agentcore's entry."""
