"""The command line: one file a command group, each imported when it is used."""

from agentcore.cli.main import main

__all__ = ["main"]
