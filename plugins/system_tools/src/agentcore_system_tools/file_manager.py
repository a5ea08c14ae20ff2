"""Shows a file in its folder with the user's file manager."""

import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Literal

from agentcore.api import ToolError
from agentcore_system_tools.programs import has_display, launch_program, one_line, run_program

Way = Literal["file_manager", "xdg_open", "finder"]

_SETTLE_SECONDS = 3.0
_FINDER_SECONDS = 15.0


def show_in_folder(path: Path, *, is_folder: bool) -> Way:
    """Select a file in its folder, or open a folder; blocks.

    Args:
        path: The real path.
        is_folder: True if it is a folder.
    Returns:
        The program or service that showed it.
    Raises:
        ToolError: `no_display`, `no_file_manager`, `open_failed`, `program_failed`.
    """
    if sys.platform == "darwin":
        return _show_in_finder(path)
    by_bus: Callable[..., bool] = import_module("agentcore_system_tools.file_manager_bus").show_by_bus
    if by_bus(path, is_folder=is_folder):
        return "file_manager"
    return _open_folder(path if is_folder else path.parent)


def _open_folder(folder: Path) -> Way:
    if not has_display():
        message = "There is no desktop to show it on: start agentcore in a graphical session."
        raise ToolError("no_display", message)
    program = shutil.which("xdg-open")
    if program is None:
        message = "No file manager answers on the session bus, and there is no xdg-open; install xdg-utils."
        raise ToolError("no_file_manager", message)
    # With a trailing slash it can only be a folder: a file that replaces it in the meantime is not opened.
    code = launch_program([program, f"{folder}/"], _SETTLE_SECONDS)
    if code:
        message = f"xdg-open could not show {str(folder)!r} (exit code {code}); is a file manager installed?"
        raise ToolError("open_failed", message, exit_code=code)
    return "xdg_open"


def _show_in_finder(path: Path) -> Way:
    done = run_program(["/usr/bin/open", "-R", str(path)], _FINDER_SECONDS)
    if done.returncode:
        message = f"Finder could not show {str(path)!r}: {one_line(done.stderr)}."
        raise ToolError("open_failed", message, exit_code=done.returncode)
    return "finder"
