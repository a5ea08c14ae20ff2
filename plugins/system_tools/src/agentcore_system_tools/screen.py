"""Selects the implementation that takes screenshots on this desktop."""

import os
import sys
from importlib import import_module

from agentcore.api import ToolError
from agentcore_system_tools.programs import has_display
from agentcore_system_tools.screenshot import Screenshot, ScreenshotOptions


def take_screenshot(options: ScreenshotOptions) -> Screenshot:
    """Take a screenshot; blocks.

    Raises:
        ToolError: `no_display`, and those of the desktop's implementation.
    """
    # The dependencies of an implementation are imported only on its desktop, with the first screenshot.
    name = detect_desktop()
    image: Screenshot = getattr(import_module(f"agentcore_system_tools.{name}"), f"take_{name}")(options)
    return image


def detect_desktop() -> str:
    """Detect the kind of desktop: `macos`, `wayland` or `x11`.

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
    # Under Wayland there is an X server, too, but it shows only windows of X programs.
    return "wayland" if os.environ.get("WAYLAND_DISPLAY") else "x11"
