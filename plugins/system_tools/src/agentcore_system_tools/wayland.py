"""Screenshots of a Wayland session: with grim if the compositor allows it, else with the portal, which may ask."""

import os
import secrets
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jeepney import DBusAddress, MatchRule

from agentcore.api import ToolError
from agentcore_system_tools import session_bus
from agentcore_system_tools.programs import run_program
from agentcore_system_tools.screenshot import Screenshot, ScreenshotOptions, load_screenshot

_GRIM_SECONDS = 15.0
_PORTAL_SECONDS = 60.0
"""How long the user may take to answer the portal's question."""

_DESKTOP = DBusAddress(
    "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Screenshot"
)
_RESPONSE = MatchRule(type="signal", interface="org.freedesktop.portal.Request", member="Response")
_CANCELLED = 1


def take_wayland(options: ScreenshotOptions) -> Screenshot:
    """Take a screenshot; blocks.

    Raises:
        ToolError: `display_not_found`, `region_outside`, `screenshot_denied`, `screenshot_failed`.
    """
    if options.display is not None:
        message = "Single displays cannot be named on Wayland; leave `display` out, and name a region."
        raise ToolError("display_not_found", message)
    return load_screenshot(_by_grim() or _by_portal(), options.region)


def _by_grim() -> bytes | None:
    """Take a screenshot with grim; None if it is not installed or the compositor does not allow it."""
    program = shutil.which("grim")
    if program is None:
        return None
    done = run_program([program, "-t", "png", "-"], _GRIM_SECONDS)
    return done.stdout if done.returncode == 0 and done.stdout else None


def _by_portal() -> bytes:
    """Take a screenshot with the portal. Source: XDG Desktop Portal, interface org.freedesktop.portal.Screenshot."""
    try:
        with session_bus.session_bus() as bus, session_bus.collect_signals(bus, _RESPONSE) as answers:
            options = {"handle_token": ("s", f"agentcore{secrets.token_hex(8)}"), "interactive": ("b", False)}
            (handle,) = session_bus.call_method(bus, _DESKTOP, "Screenshot", "sa{sv}", ("", options))
            response, results = session_bus.next_signal(bus, answers, handle, _PORTAL_SECONDS)
    except session_bus.BusError as exc:
        message = f"No picture of this Wayland session: there is no grim that may take one, and no portal ({exc})."
        raise ToolError("screenshot_failed", message) from exc
    if response == _CANCELLED:
        raise ToolError("screenshot_denied", "The person at the screen did not allow the picture.")
    if response != 0 or "uri" not in results:
        raise ToolError("screenshot_failed", "The desktop portal took no picture; try again.", retryable=True)
    return _read_and_remove(Path(os.fsdecode(unquote(urlsplit(results["uri"][1]).path))))


def _read_and_remove(file: Path) -> bytes:
    """Read the file that the portal created for this request, and delete it."""
    try:
        content = file.read_bytes()
        file.unlink()
    except OSError as exc:
        message = f"The picture that the desktop took cannot be read: {exc.strerror}."
        raise ToolError("screenshot_failed", message) from exc
    return content
