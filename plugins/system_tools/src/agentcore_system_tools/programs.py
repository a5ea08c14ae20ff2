"""The desktop's own programs: started without a shell, with an environment that holds nothing but the desktop's."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress

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


def desktop_environment() -> dict[str, str]:
    """The variables that a program of the desktop needs: a list of what is kept, so that no key is among them."""
    return {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def has_display() -> bool:
    """Whether there is a screen for programs of this session, on Linux."""
    return bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))


def run(command: Sequence[str], limit_s: float) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to its end; blocks.

    Raises:
        ToolError: `program_failed`: it cannot be started, or did not end in time and was ended.
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


def said(output: bytes) -> str:
    """What a program wrote, on one line, for a message."""
    return " ".join(output.decode(errors="replace").split())[:_OUTPUT_CHARS]


class Launcher:
    """Starts programs that a person goes on using: they stay open when the module stops."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def launch(self, command: Sequence[str], settle_s: float) -> int | None:
        """Start a program in a session of its own, and watch it for a moment; blocks.

        Args:
            command: The program and its arguments.
            settle_s: How long to wait for it to fail, in seconds.
        Returns:
            Its exit code; None: it runs on, as programs with a window may.
        Raises:
            ToolError: `program_failed`: it cannot be started.
        """
        self.reap()
        try:
            process = subprocess.Popen(
                command,
                env=desktop_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as exc:
            message = f"{command[0]} cannot be started: {exc.strerror}."
            raise ToolError("program_failed", message, program=command[0]) from exc
        with suppress(subprocess.TimeoutExpired):
            return process.wait(settle_s)
        self._started.append(process)
        return None

    def reap(self) -> None:
        """Take note of programs that have ended meanwhile, so that no process table keeps them."""
        self._started = [process for process in self._started if process.poll() is None]

    def forget(self) -> None:
        """Leave those that still run to the person, and to the system that takes over when we end."""
        self.reap()
        for process in self._started:
            process.returncode = 0  # else it is reported as lost when the object goes, though it is meant to go on
        self._started.clear()
