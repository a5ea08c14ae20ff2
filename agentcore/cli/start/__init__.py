"""What the terminal of `agentcore serve` shows at the start, and what is missing there."""
