"""The state folder: its lock, its private files, the token, who serves."""
