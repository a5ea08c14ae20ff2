"""Persistent state: the state folder, and one SQLite file for the stores of these packages."""
