"""The command that installs packages for the interpreter of this process, not for another Python of the machine."""

import shlex
import sys

INDEX_WARNING = "anybody may have registered that name on the package index: look at who publishes it first"
"""Warning to show with a command whose package name was only guessed."""


def pip_command(*requirements: str) -> str:
    """Return the command that installs packages for this interpreter, quoted for a shell.

    Args:
        requirements: Names with extras and versions, such as `agentcore-runtime[chat]`; none: the start of the command.
    """
    return shlex.join([sys.executable or "python3", "-m", "pip", "install", *requirements])
