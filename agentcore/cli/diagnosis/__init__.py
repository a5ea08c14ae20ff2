"""The checks of `agentcore doctor`."""
