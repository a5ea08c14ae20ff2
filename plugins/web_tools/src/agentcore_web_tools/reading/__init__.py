"""Converts fetched pages to text for models, and finds words in texts."""
