"""Shared by all tools: text encodings, and the display of sizes and lines."""
