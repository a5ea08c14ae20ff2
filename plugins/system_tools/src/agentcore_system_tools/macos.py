"""Screenshots on macOS, with its `screencapture`."""

import tempfile
from pathlib import Path

from agentcore.api import ToolError
from agentcore_system_tools.programs import one_line, run_program
from agentcore_system_tools.screenshot import Screenshot, ScreenshotOptions, load_screenshot

_PROGRAM = "/usr/sbin/screencapture"
_SECONDS = 15.0


def take_macos(options: ScreenshotOptions) -> Screenshot:
    """Take a screenshot; blocks.

    Raises:
        ToolError: `screenshot_denied`, `display_not_found`, `region_outside`, `screenshot_failed`.
    """
    with tempfile.TemporaryDirectory(prefix="agentcore-") as folder:
        file = Path(folder, "screen.png")
        done = run_program([_PROGRAM, "-x", "-t", "png", "-D", str(options.display or 1), str(file)], _SECONDS)
        if not file.exists():
            raise _describe_refusal(one_line(done.stderr), options)
        return load_screenshot(file.read_bytes(), options.region)


def _describe_refusal(reason: str, options: ScreenshotOptions) -> ToolError:
    if "display" in reason.lower() and options.display is not None:
        return ToolError("display_not_found", f"There is no display {options.display}: {reason}.")
    message = (
        "macOS gave no picture: allow it to the program that runs agentcore, in System Settings → Privacy & Security → "
        f"Screen Recording, and start it anew ({reason or 'no reason given'})."
    )
    return ToolError("screenshot_denied", message)
