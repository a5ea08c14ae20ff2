"""The sandbox for commands: setup, probing, and mounts."""
