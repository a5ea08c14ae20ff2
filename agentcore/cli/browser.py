"""Opening a browser at an address that holds a one-time code."""

import webbrowser
from pathlib import Path

from agentcore.store.state_dir import write_open_file


def open_browser(state: Path, address: str) -> bool:
    """Open an address in the person's browser, by a file that leads there: the arguments of a process are no secret.

    Args:
        state: The state folder of the server.
        address: With codes in its fragment.
    Returns:
        Whether a browser could be started.
    """
    return webbrowser.open(write_open_file(state, address).as_uri())
