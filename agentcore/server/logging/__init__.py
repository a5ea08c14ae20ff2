"""The log: one JSON line per event, without secrets."""
