"""The one path of a call."""
