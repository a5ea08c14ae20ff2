"""Opening a browser at an address that holds a one-time code."""

import subprocess
import sys
from pathlib import Path

from agentcore.store.state import write_open_file

# a process between: what is below the server ends with it, and the person's browser is not to
_PROGRAM = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_browser(state: Path, address: str) -> bool:
    """Open an address in the person's browser, by a file that leads there: the arguments of a process are no secret.

    Args:
        state: The state folder of the server.
        address: With codes in its fragment.
    Returns:
        Whether a browser could be started.
    """
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, write_open_file(state, address).as_uri()]
    return subprocess.run(command, check=False).returncode == 0
