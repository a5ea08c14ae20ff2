"""Backends of commands: a running server, or a core in the command's own process."""
