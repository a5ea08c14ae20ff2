"""The command that installs packages for the process that says it, and no other Python of the machine."""

import shlex
import sys

INDEX_WARNING = "anybody may have registered that name on the package index: look at who publishes it first"
"""What goes with a command whose name was only guessed."""


def pip_command(*requirements: str) -> str:
    """The command that installs packages where this interpreter finds them, quoted for a shell.

    Args:
        requirements: Names with extras and versions, such as `agentcore-runtime[chat]`; none: the command's beginning.
    """
    return shlex.join([sys.executable or "python3", "-m", "pip", "install", *requirements])
