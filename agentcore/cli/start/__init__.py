"""Output of `agentcore serve` at the start, including what is missing."""
