"""Pictures of the screen on macOS, by its own `screencapture`."""

import tempfile
from pathlib import Path

from agentcore.api import ToolError
from agentcore_system_tools.programs import run, said
from agentcore_system_tools.shot import Shot, Wish, shot_of_file

_PROGRAM = "/usr/sbin/screencapture"
_SECONDS = 15.0


def take_macos(wish: Wish) -> Shot:
    """Take a picture; blocks.

    Raises:
        ToolError: `screenshot_denied`, `display_not_found`, `region_outside`, `screenshot_failed`.
    """
    with tempfile.TemporaryDirectory(prefix="agentcore-") as folder:
        file = Path(folder, "screen.png")
        done = run([_PROGRAM, "-x", "-t", "png", "-D", str(wish.display or 1), str(file)], _SECONDS)
        if not file.exists():
            raise _refused(said(done.stderr), wish)
        return shot_of_file(file.read_bytes(), wish.region)


def _refused(reason: str, wish: Wish) -> ToolError:
    if "display" in reason.lower() and wish.display is not None:
        return ToolError("display_not_found", f"There is no display {wish.display}: {reason}.")
    message = (
        "macOS gave no picture: allow it to the program that runs agentcore, in System Settings → Privacy & Security → "
        f"Screen Recording, and start it anew ({reason or 'no reason given'})."
    )
    return ToolError("screenshot_denied", message)
