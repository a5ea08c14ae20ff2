"""Opens a browser at an address that contains a one-time code."""

import subprocess
import sys
from pathlib import Path

from agentcore.store.state.state_dir import write_open_file

# Start the browser from an intermediate process: the server's child processes end with it, the browser must not.
_PROGRAM = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_browser(state: Path, address: str) -> bool:
    """Open an address in the user's browser, through a file, since process arguments are visible to others.

    Args:
        state: The state folder of the server.
        address: The address, with codes in its fragment.
    Returns:
        True if a browser was started.
    """
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, write_open_file(state, address).as_uri()]
    return subprocess.run(command, check=False).returncode == 0
