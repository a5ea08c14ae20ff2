"""`agentcore chat`: a conversation at the terminal."""
