"""Persistent state: the state folder, and stores that share one SQLite file."""
