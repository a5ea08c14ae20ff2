"""What all tools share: how bytes are text, and how sizes and lines are shown."""
