"""The state folder: its lock, its private files, the token, and the running server."""
