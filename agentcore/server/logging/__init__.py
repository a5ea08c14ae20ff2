"""The log: one JSON line an event, nothing secret in it."""
