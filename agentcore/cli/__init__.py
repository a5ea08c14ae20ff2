"""The command line: one file per command group, imported when it is used."""

from agentcore.cli.main import main

__all__ = ["main"]
