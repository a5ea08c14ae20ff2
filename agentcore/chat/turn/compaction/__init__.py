"""Compaction: shortens the history sent to a model so that a session stays within the model's context."""
