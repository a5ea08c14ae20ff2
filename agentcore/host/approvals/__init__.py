"""What waits for a person: calls, changes of what is allowed, pairings."""
