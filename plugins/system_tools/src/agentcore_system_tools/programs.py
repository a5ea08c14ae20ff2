"""Starts desktop programs without a shell, with only the desktop's environment variables."""

import os
import subprocess
import sys
from collections.abc import Sequence

from agentcore.api import ToolError

_KEPT = frozenset(
    (
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "BROWSER", "DESKTOP_SESSION",
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
        "SWAYSOCK", "HYPRLAND_INSTANCE_SIGNATURE",
    )
)  # fmt: skip
_KEPT_PREFIXES = ("LC_", "XDG_", "KDE_", "GNOME_", "QT_", "GTK_", "__CF")
_OUTPUT_CHARS = 300
_START_SECONDS = 30.0  # a Python and a program on a busy machine

# An intermediate process, which exits and leaves the program as an orphan.
_BETWEEN = """
import subprocess, sys
quiet = subprocess.DEVNULL
try:
    process = subprocess.Popen(sys.argv[2:], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    print(process.wait(float(sys.argv[1])), end="")
except subprocess.TimeoutExpired:
    process.returncode = 0
except OSError as exc:
    sys.exit(exc.strerror)
"""


def desktop_environment() -> dict[str, str]:
    """Return the environment for desktop programs: an allow-list, so that no secret is passed on."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def has_display() -> bool:
    """Return True if this session has a display, on Linux."""
    return bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))


def run_program(command: Sequence[str], limit_s: float) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to its end; blocks.

    Raises:
        ToolError: `program_failed` if it cannot be started, or did not end in time and was killed.
    """
    try:
        return subprocess.run(
            command,
            env=desktop_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        message = f"{command[0]} did not end within {limit_s:g} s and was stopped; is a question open on the screen?"
        raise ToolError("program_failed", message, retryable=True, program=command[0]) from exc
    except OSError as exc:
        message = f"{command[0]} cannot be started: {exc.strerror}."
        raise ToolError("program_failed", message, program=command[0]) from exc


def one_line(output: bytes) -> str:
    """Put a program's output on one line, truncated to 300 characters."""
    return " ".join(output.decode(errors="replace").split())[:_OUTPUT_CHARS]


def launch_program(command: Sequence[str], settle_s: float) -> int | None:
    """Start a program that the user continues to use, and watch it for a moment; blocks.

    It is started as an orphan, because children of a module end with the module, and this program should stay open.

    Args:
        command: The program and its arguments.
        settle_s: How long to wait for it to fail, in seconds.
    Returns:
        Its exit code; None if it is still running, as programs with a window may be.
    Raises:
        ToolError: `program_failed` if it cannot be started.
    """
    between = [sys.executable, "-I", "-S", "-c", _BETWEEN, str(settle_s), *command]
    done = run_program(between, settle_s + _START_SECONDS)
    if done.returncode:
        message = f"{command[0]} cannot be started: {one_line(done.stderr)}."
        raise ToolError("program_failed", message, program=command[0])
    return int(done.stdout) if done.stdout else None
