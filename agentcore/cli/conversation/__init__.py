"""`agentcore chat`: chat at the terminal."""
