"""Which way a picture of this screen is taken."""

import os
import sys
from importlib import import_module

from agentcore.api import ToolError
from agentcore_system_tools.programs import has_display
from agentcore_system_tools.screenshot import Screenshot, ScreenshotOptions


def take_screenshot(options: ScreenshotOptions) -> Screenshot:
    """Take a picture of the screen; blocks.

    Raises:
        ToolError: `no_display`, and what the way of this system says.
    """
    # what belongs to one kind of desktop is imported there alone, at the first picture
    name = detect_desktop()
    picture: Screenshot = getattr(import_module(f"agentcore_system_tools.{name}"), f"take_{name}")(options)
    return picture


def detect_desktop() -> str:
    """The kind of desktop that shows the screen.

    Raises:
        ToolError: `no_display`.
    """
    if sys.platform == "darwin":
        return "macos"
    if not has_display():
        message = (
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set where agentcore runs. "
            "Start it in a graphical session."
        )
        raise ToolError("no_display", message)
    # under Wayland an X server is there too, but it shows only windows of X programs
    return "wayland" if os.environ.get("WAYLAND_DISPLAY") else "x11"
