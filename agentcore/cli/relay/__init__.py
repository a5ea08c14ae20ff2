"""`agentcore mcp`: relays messages between a client and the server, and keeps the client connected across restarts."""
